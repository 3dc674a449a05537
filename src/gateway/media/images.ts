import { bufferOf } from '../../base/json.ts';
import type { Fault } from '../../base/fault.ts';
import { refusal, unavailable } from '../../base/refusal.ts';
import { fileType, headBytes } from '../../media/content-type.ts';
import {
  type FileSource,
  type Files,
  isNotStored,
  type NotStored,
  type StoredFile,
} from '../../media/files.ts';
import type { VendorAnswer, GeneratedImage } from '../../providers/adapter.ts';
import type { ImageRequest } from '../../providers/media-request.ts';
import type { AttemptResult } from '../attempt.ts';
import type { OpenChannel } from '../channels/open-channels.ts';
import type { RequestProgress } from '../progress.ts';
import type { FundedRequest } from '../reserve.ts';
import { usageOfImageAnswer } from '../answer-usage.ts';

/** Tries to download an image: the vendor has made it, and no other vendor will. */
const downloadsMax = 3;

/**
 * The answer with its images as the client wants them: as URLs of Tollgate, or as bytes. An image
 * that cannot be downloaded is the vendor's fault: nothing is charged, and no other channel is
 * called.
 */
export async function storeImages(
  funded: FundedRequest,
  progress: RequestProgress,
  answer: VendorAnswer,
  images: readonly GeneratedImage[],
  openChannel: OpenChannel,
): Promise<AttemptResult> {
  const leaving = new AbortController();
  const work = { abort: () => leaving.abort() };
  progress.startWork(work);
  const store = new ImageStore(funded, openChannel, leaving.signal);
  try {
    const data = await Promise.all(images.map((image) => store.item(image)));
    const had = data.flatMap((item) => ('why' in item ? [] : [item]));
    const failed = data.find((item) => 'why' in item);
    // The available images are delivered, and only they are charged.
    if (had.length > 0 || failed === undefined) {
      const { quantities, estimated } = usageOfImageAnswer(
        funded,
        answer.quantities,
        had.length,
        images.length,
      );
      return {
        kind: 'answer',
        answer: { ...answer, body: withData(bufferOf(answer.body), had), quantities, estimated },
      };
    }
    return imagesMissing(failed, funded.request.id);
  } catch (error) {
    await store.clear();
    if (leaving.signal.aborted) return { kind: 'left' };
    throw error;
  } finally {
    progress.endWork(work);
  }
}

/** One member of the client's `data`. */
interface Item {
  readonly url?: string;
  readonly b64_json?: string;
  readonly revised_prompt?: string;
}

/** Collects the images of one answer. */
class ImageStore {
  readonly #files: Files;
  readonly #account: string;
  readonly #host: string | undefined;
  readonly #returns: ImageRequest['returns'];
  readonly #home: string;
  readonly #bytesMax: number;
  readonly #left: AbortSignal;
  readonly #stored: StoredFile[] = [];

  constructor({ parts, request }: FundedRequest, { upstream }: OpenChannel, left: AbortSignal) {
    this.#files = parts.files;
    this.#account = request.principal.userId;
    this.#host = request.headers?.host;
    this.#returns = request.image?.returns ?? 'b64_json';
    this.#home = upstream.urlOf('');
    this.#bytesMax = parts.limits.answerBytesMax;
    this.#left = left;
  }

  async item({ from, revisedPrompt }: GeneratedImage): Promise<Item | NotStored> {
    const had = await this.#had(from);
    return 'why' in had || revisedPrompt === undefined
      ? had
      : { ...had, revised_prompt: revisedPrompt };
  }

  async #had(from: GeneratedImage['from']): Promise<Item | NotStored> {
    if (this.#returns === 'url') return this.#address(from);
    const bytes = await this.#bytes(from);
    if (this.#returns === 'b64_json' || 'why' in bytes) return bytes;
    const address = await this.#address({ base64: bytes.b64_json });
    return 'why' in address ? address : { ...address, ...bytes };
  }

  async #address(from: GeneratedImage['from']): Promise<Item | NotStored> {
    const file = { account: this.#account, kind: 'image' } as const;
    const kept =
      'url' in from
        ? await downloadWithRetries(() => this.#files.copy(this.#source(from), file, this.#left))
        : await this.#files.put(Buffer.from(from.base64, 'base64'), file);
    if (isNotStored(kept)) return kept;
    this.#stored.push(kept);
    return { url: this.#files.urlOf(kept, this.#host) };
  }

  async #bytes(from: GeneratedImage['from']): Promise<{ readonly b64_json: string } | NotStored> {
    let base64: string;
    if ('base64' in from) base64 = from.base64;
    else {
      const bytes = await downloadWithRetries(() =>
        this.#files.take(this.#source(from), this.#bytesMax, this.#left),
      );
      if ('why' in bytes) return bytes;
      base64 = bytes.toString('base64');
    }
    const head = Buffer.from(base64.slice(0, headBytes), 'base64');
    if (fileType(head, 'image') === undefined)
      return { why: 'wrong type', detail: 'it is no image that we know' };
    return { b64_json: base64 };
  }

  #source({ url, headers }: Extract<GeneratedImage['from'], { url: string }>): FileSource {
    return { url, home: this.#home, ...(headers === undefined ? {} : { headers }) };
  }

  /** Removes images that no client will see. An image that cannot be removed now expires. */
  async clear(): Promise<void> {
    await Promise.allSettled(
      this.#stored.map(({ account, id }) => this.#files.remove(account, id)),
    );
  }
}

async function downloadWithRetries<T extends object>(
  have: () => Promise<T | NotStored>,
): Promise<T | NotStored> {
  for (let attempt = 1; ; attempt++) {
    const had = await have();
    if (!('why' in had && had.why === 'unreachable') || attempt === downloadsMax) return had;
  }
}

function imagesMissing({ why, detail }: NotStored, id: string): AttemptResult {
  if (why === 'away')
    return { kind: 'own_refusal', why: unavailable(id, 'pictures cannot be kept') };
  if (why === 'full') return { kind: 'own_refusal', why: refusal('too_many_files') };
  const fault: Fault = {
    kind: why === 'unreachable' ? 'network' : 'protocol',
    message: `a picture of the answer: ${detail}`,
  };
  return { kind: 'fault', stage: 'streaming', fault };
}

/** Puts `data` after `created`, where clients expect it. */
function withData(body: Buffer, data: readonly Item[]): Buffer {
  const { created, ...rest }: Record<string, unknown> = JSON.parse(body.toString('utf8'));
  return Buffer.from(JSON.stringify({ created, data, ...rest }));
}
