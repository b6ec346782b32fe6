/** Which of the known names was meant by a word that is none of them? */

/** Shorter pieces are in too many names to mean one of them. */
const PIECE_CHARS_MIN = 4;

/** What was meant: for a slip of one or two letters, or for a piece of a name, such as depth for max-depth. */
export const nearest = (word: string, known: readonly string[]): string | null => {
  const [best] = known.map((name) => ({ name, slips: distance(word, name) })).sort((a, b) => a.slips - b.slips);
  if (best && best.slips <= 2) return best.name;
  const [whole] = known
    .filter((name) => word.length >= PIECE_CHARS_MIN && name.includes(word))
    .sort((a, b) => a.length - b.length);
  return whole ?? null;
};

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
};
