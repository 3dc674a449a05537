import { randomText } from '../base/random.ts';

const secretCharacters = 43;
const secretPattern = /^[A-Za-z0-9]{43}$/;

/**
 * A secret of a session, a link, a browser or a sign-in on its way: 43 characters of 62 are more
 * than 256 random bits.
 */
export const newSecret = (): string => randomText(secretCharacters);

/** Whether a text can be such a secret: no other is looked up. */
export const isSecret = (text: string): boolean => secretPattern.test(text);
