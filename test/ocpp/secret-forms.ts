/** What secrets look like where they must not be. */

export const hex = (text: string): string => Buffer.from(text).toString('hex');

/** A text in the forms in which it could be shown; base64 depends on the place of its first octet. */
export function formsOf(text: string): readonly string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const full = Buffer.from('x'.repeat(shift) + text).toString('base64');
    // the groups of four that are made of the text alone
    return full.slice(shift === 0 ? 0 : 4, Math.floor((shift + text.length) / 3) * 4);
  });
  return [text, text.toLowerCase(), encodeURIComponent(text), hex(text), hex(text).toUpperCase(), ...base64];
}
