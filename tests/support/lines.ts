/** Text that a command printed, line by line. */

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
