/** Refuses what reaches under the documented interface of a library. */

const changers = ['assign', 'defineProperty', 'defineProperties', 'setPrototypeOf']

/** Whether the outermost member that begins with this identifier is assigned to, or given to what changes it. */
function isChanged(identifier) {
  let node = identifier
  while (node.parent.type === 'MemberExpression' && node.parent.object === node) node = node.parent
  const { parent } = node
  if (parent.type === 'AssignmentExpression') return parent.left === node && node !== identifier
  const callee = parent.type === 'CallExpression' && parent.arguments[0] === node && parent.callee
  return callee && ['Object', 'Reflect'].includes(callee.object?.name)
    ? changers.includes(callee.property.name)
    : false
}

/** Forbids assignments to exports of a package, at any depth. */
const noChange = {
  create: (context) => ({
    ImportDeclaration(declaration) {
      if (declaration.source.value.startsWith('.')) return
      const references = context.sourceCode
        .getDeclaredVariables(declaration)
        .flatMap((variable) => variable.references)
      for (const { identifier } of references.filter((one) => isChanged(one.identifier))) {
        context.report({ node: identifier, message: 'Use a package as it is: do not change it.' })
      }
    },
  }),
}

export const libraries = { rules: { 'no-change': noChange } }

/** Of Express, pg, knex, Temporal and Node. */
const methods =
  '/^(query|begin|commit|rollback|destroy|acquire.*|with[A-Z].*|emit|json|send|end|write|writeHead|setHeader)$/'
const aFunction = '[right.type=/^(Function|ArrowFunction)Expression$/]'

/** For `no-restricted-syntax`. */
export const underInterfaces = [
  {
    selector: `AssignmentExpression${aFunction} > MemberExpression.left[property.name=${methods}]`,
    message: 'Do not replace the method of a library.',
  },
  {
    selector: `CallExpression[callee.property.name="setPrototypeOf"], MemberExpression[property.name="__proto__"], AssignmentExpression > MemberExpression.left[object.property.name="prototype"]`,
    message: 'Leave prototypes as they are.',
  },
  {
    selector:
      ':matches(MemberExpression, ObjectPattern > Property)[computed=false] > Identifier[name=/^_[a-z]/]',
    message: 'A name that begins with _ is private to its library.',
  },
  {
    selector: 'Identifier[name="webpackConfigHook"]',
    message: 'Bundle workflows as the SDK does.',
  },
  {
    selector: 'Literal[value="BuildIds"], Identifier[name="BuildIds"]',
    message: 'The Temporal server owns this attribute. Use worker deployment versions.',
  },
]
