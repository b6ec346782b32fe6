/**
 * How a member shows a shared store that it lives, and what follows for both when it cannot.
 *
 * The order of these times is what makes it safe to give a dead member's sites to others: it is silent long before the
 * others take it for dead, and has ended what was under way before they free its leases.
 */

/** A member tells its store that it lives this often. */
export const BEAT_MS = 1_000;
/** A member whose last beat was not answered for this long sends no request. */
export const SILENT_AFTER_MS = 2_000;
/** After this its visits under way are broken off, and their leases are void, whatever the store says later. */
export const LAPSED_AFTER_MS = 10_000;
/** A member that the store has not heard for this long is dead: its leases are freed. By the store's clock. */
export const DEAD_AFTER_MS = 15_000;
