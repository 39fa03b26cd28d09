/**
 * One of these names, or one that is newer than this library: answers of the API grow. Editors offer those that are
 * known.
 */
export type Known<Name extends string> = Name | (string & {})
