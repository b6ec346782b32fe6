/** How much around a seed is crawled, from narrow to wide; `any`: whatever is linked. */
export const SCOPE_KINDS = ['page', 'path', 'host', 'site', 'any'] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];
