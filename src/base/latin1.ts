/**
 * Short bytes as text, one latin1 character each. Such text is joined with a head and leaves in one
 * write, without a copy in a buffer.
 */
export class Latin1 {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** In bytes. */
  get length(): number {
    return this.text.length;
  }

  /** As a Buffer's. */
  toString(encoding: 'utf8' | 'latin1' = 'utf8'): string {
    return encoding === 'latin1' ? this.text : bufferOf(this).toString('utf8');
  }
}

/** The bytes of a whole body. */
export type Bytes = Buffer | Latin1;

/** Above this, a buffer takes less memory and no more time. */
export const latin1BytesMax = 16_384;

/** The bytes of a text of latin1 characters. */
export const bytesOfLatin1 = (text: string): Bytes =>
  text.length <= latin1BytesMax ? new Latin1(text) : Buffer.from(text, 'latin1');

export const bufferOf = (bytes: Bytes): Buffer =>
  bytes instanceof Latin1 ? Buffer.from(bytes.text, 'latin1') : bytes;
