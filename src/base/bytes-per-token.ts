/*
 * How many bytes of UTF-8 one token of a text has, wherever tokens are estimated from bytes. The
 * fewer bytes, the more tokens are assumed.
 */

/** For reserving, where too much is harmless, since the charge corrects it. */
export const bytesPerTokenReserved = 2;

/** For the input of a request until it is counted: an English half-word, or a Chinese character. */
export const bytesPerTokenInput = 3;

/** For charges and usage reports where the vendor counts nothing, and no text is kept. */
export const bytesPerTokenUsual = 4;

/** More bytes per token mean that an answer exceeds the output limit that was reserved. */
export const bytesPerTokenMax = 8;

/**
 * No text has more bytes per token, apart from some tokens of blanks or dashes. Recorded answers
 * have at most 18.
 */
export const bytesPerTokenEver = 32;

/** No single token of o200k_base is longer, blanks and dashes included. */
export const bytesPerTokenLongest = 128;
