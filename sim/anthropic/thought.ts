import { createHash, createHmac } from 'node:crypto';

/** One constant secret: every simulator recognises the signatures of all others. */
const secret = 'a simulated vendor signs its thoughts';
const stampBytes = 12;

const stamp = (thought: string): Buffer =>
  createHash('sha256').update(thought).digest().subarray(0, stampBytes);
const seal = (stamped: Buffer): Buffer => createHmac('sha256', secret).update(stamped).digest();

/** The signature that comes with thinking and must come back with it. */
export function sign(thought: string): string {
  const stamped = stamp(thought);
  return Buffer.concat([stamped, seal(stamped)]).toString('base64');
}

/** Whether a signature is the simulator's, and belongs to this text. */
export function verify(thought: string, signature: string): 'good' | 'changed' | 'foreign' {
  const bytes = Buffer.from(signature, 'base64');
  const stamped = bytes.subarray(0, stampBytes);
  if (!bytes.subarray(stampBytes).equals(seal(stamped))) return 'foreign';
  return stamped.equals(stamp(thought)) ? 'good' : 'changed';
}

/** Redacted thinking: the text is its own signature. */
export const redact = (thought: string): string => sign(thought);
export const isRedacted = (data: string): boolean => verify('', data) !== 'foreign';
