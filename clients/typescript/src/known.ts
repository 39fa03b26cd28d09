/**
 * One of these names, or a name that is newer than this library, because the API adds names. Editors complete the
 * known names.
 */
export type Known<Name extends string> = Name | (string & {})
