import {
  type Adapter,
  type VendorCall,
  type Signatures,
  translatedCall,
} from '../providers/adapter.ts';
import type { AttemptResult } from './attempt.ts';
import type { OpenChannel } from './channels/open-channels.ts';
import { inlineMedia } from './media/inline.ts';
import type { RequestProgress } from './progress.ts';
import type { FundedRequest } from './reserve.ts';

/**
 * The call as the vendor needs it: with the bytes of media that the vendor does not read by URL,
 * with the vendor's own signatures, and with its translation. Returns no promise where nothing has
 * to be fetched.
 */
export function prepareCall(
  funded: FundedRequest,
  progress: RequestProgress,
  openChannel: OpenChannel,
  adapter: Adapter,
  call: VendorCall,
): VendorCall | AttemptResult | Promise<VendorCall | AttemptResult> {
  const inlined = inlineMedia(funded, progress, adapter, call);
  const prepared =
    inlined === undefined
      ? withKnownSignatures(funded, progress, openChannel, adapter, call)
      : inlined.then((made) =>
          'kind' in made ? made : withKnownSignatures(funded, progress, openChannel, adapter, made),
        );
  if (!(prepared instanceof Promise)) return prepared;
  // A client that left in the meantime needs no call.
  return prepared.then((made) => (progress.left ? { kind: 'left' } : made));
}

/**
 * The key of stored signatures: the vendor's model for any channel, or one account at the vendor.
 */
const signerOf = (
  { request }: FundedRequest,
  { candidate }: RequestProgress,
  openChannel: OpenChannel,
): string =>
  `${openChannel.signer ?? candidate?.id ?? ''} ${candidate?.upstreamModel ?? request.model}`;

/**
 * The call with its translation, and with the signatures of earlier turns that the client did not
 * bring back, where some are missing and known. Waits for the database only when this process has
 * not seen these turns itself. Without a database a conversation goes on without its signatures.
 */
function withKnownSignatures(
  funded: FundedRequest,
  progress: RequestProgress,
  openChannel: OpenChannel,
  adapter: Adapter,
  call: VendorCall,
): VendorCall | Promise<VendorCall> {
  const translated = translatedCall(adapter, call);
  const unsigned = adapter.unsigned?.(translated);
  if (unsigned === undefined || unsigned.length === 0) return translated;
  const { parts, request } = funded;
  const known = parts.signatures.find(
    request.principal.userId,
    signerOf(funded, progress, openChannel),
    unsigned,
  );
  const signed = (signatures: Signatures): VendorCall =>
    signatures.size === 0 ? translated : translatedCall(adapter, { ...call, signatures });
  if (!(known instanceof Promise)) return signed(known);
  return known.then(signed, () => translated);
}

/**
 * Remembers the signatures of an answer before its last byte leaves, since the next request may
 * come to another node. The client gets its answer in any case.
 */
export async function rememberSignatures(
  funded: FundedRequest,
  progress: RequestProgress,
  signatures: Signatures,
): Promise<void> {
  const { parts, request } = funded;
  const { candidate } = progress;
  if (candidate === undefined) return;
  const signer = signerOf(funded, progress, parts.openChannels.of(candidate.channel));
  await parts.signatures.keep(request.principal.userId, signer, signatures);
}
