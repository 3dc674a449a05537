import { editJsonBytes, jsonText, type JsonPath, isObject } from '../../base/json.ts';
import { refusal } from '../../base/refusal.ts';
import { type DownloadedMedium, isDownloadFailure } from '../../media/downloads.ts';
import type {
  Adapter,
  VendorCall,
  ImageAdapter,
  AudioAdapter,
  WholeAdapter,
} from '../../providers/adapter.ts';
import type { AttemptResult } from '../attempt.ts';
import type { MediaAddress } from '../api-request.ts';
import type { RequestProgress } from '../progress.ts';
import type { FundedRequest } from '../reserve.ts';

/**
 * The call with the bytes of media that its vendor does not read by URL; undefined when it reads
 * all. A failed download is the client's to correct: no vendor is called, and nothing is charged. A
 * second channel gets the media downloaded for the first.
 */
export function inlineMedia(
  funded: FundedRequest,
  progress: RequestProgress,
  adapter: Adapter,
  call: VendorCall,
): Promise<VendorCall | AttemptResult> | undefined {
  const { addresses } = funded.request;
  if (addresses === undefined) return undefined;
  const wanted = addressesToInline(addresses, adapter, call);
  return wanted.length === 0 ? undefined : withBytes(funded, progress, wanted, call);
}

/** The URLs that this vendor does not read itself. */
export function addressesToInline(
  addresses: readonly MediaAddress[],
  adapter: Adapter | WholeAdapter | ImageAdapter | AudioAdapter | undefined,
  call: VendorCall,
): readonly MediaAddress[] {
  if (adapter === undefined || !('needsBytes' in adapter) || adapter.needsBytes === undefined)
    return [];
  const { needsBytes } = adapter;
  return addresses.filter((address) => needsBytes(address, call));
}

const noneDownloaded: ReadonlyMap<string, DownloadedMedium> = new Map();

async function withBytes(
  { parts, request }: FundedRequest,
  progress: RequestProgress,
  wanted: readonly MediaAddress[],
  call: VendorCall,
): Promise<VendorCall | AttemptResult> {
  const had = progress.downloaded ?? noneDownloaded;
  const missing = wanted.filter(({ url }) => !had.has(url));
  if (missing.length === 0) return withContents(call, wanted, had);
  const leaving = new AbortController();
  let ended: AttemptResult | undefined;
  const work = {
    abort(result: AttemptResult): void {
      ended ??= result;
      leaving.abort();
    },
  };
  progress.startWork(work);
  const got = await parts.downloads.all(request.principal.userId, missing, leaving.signal);
  progress.endWork(work);
  if (ended !== undefined) return ended;
  if (isDownloadFailure(got)) {
    const param = wanted.find(({ url }) => url === got.url)?.param ?? '';
    return { kind: 'own_refusal', why: refusal('invalid_value', { param, why: got.why }) };
  }
  progress.downloaded = new Map([...had, ...got]);
  return withContents(call, wanted, progress.downloaded);
}

function withContents(
  call: VendorCall,
  wanted: readonly MediaAddress[],
  had: ReadonlyMap<string, DownloadedMedium>,
): VendorCall {
  const changes = wanted.flatMap((address) => {
    const content = had.get(address.url);
    return content === undefined
      ? []
      : [{ path: pathOf(address.place), to: address.written(content.type, content.base64) }];
  });
  let body: unknown = call.body;
  for (const { path, to } of changes) body = put(body, path, to);
  const bytes = editJsonBytes(
    call.bytes,
    changes.map(({ path, to }) => ({ path, json: jsonText(to) })),
    call.skeleton,
  );
  return { ...call, body: isObject(body) ? body : call.body, bytes };
}

/** `messages[0].content[1].image_url.url` → its path. */
function pathOf(param: string): JsonPath {
  return param
    .split(/[.[\]]+/)
    .flatMap((step) => (step === '' ? [] : [/^\d+$/.test(step) ? Number(step) : step]));
}

/** A copy with another value at `path`; everything else is shared. */
function put(value: unknown, [step, ...rest]: JsonPath, to: unknown): unknown {
  if (step === undefined) return to;
  if (Array.isArray(value))
    return value.map((item: unknown, i) => (i === step ? put(item, rest, to) : item));
  return isObject(value) ? { ...value, [step]: put(value[step], rest, to) } : value;
}
