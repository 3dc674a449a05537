/** One address and nothing else: no name, no second one, nothing that begins a header. */
export const isEmail = (text: string): boolean =>
  text.length <= 254 &&
  /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+\.[^\s@<>,;:"()[\]\\]+$/.test(text);
