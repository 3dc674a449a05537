import type { Fault } from '../../../base/fault.ts';
import { type Documented, isObject, objectOf, parse, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  isPending,
  type ImageAdapter,
  type StreamedImageAdapter,
  type StreamMeter,
  type StreamTranslator,
  imageRequestOf,
  newMeter,
} from '../../adapter.ts';
import { type Frames, SseFrames, WholeFrames } from '../../stream/frames.ts';
import { faultWithin, protocolFault, isFault, type FaultRule } from '../fault.ts';
import { completedEvents } from './completed.ts';
import { type ImageUsage, openaiImageUsage } from './openai.ts';

/** An event (developers.openai.com/api/reference/images, 2026-08). */
interface ImageEvent {
  readonly type: string;
  readonly usage: ImageUsage;
  readonly error: object;
}

/** The same vendor for clients that request partial images: they get its events byte for byte. */
export function streamedImages(
  adapter: ImageAdapter,
  faults: readonly FaultRule[] = [],
): StreamedImageAdapter {
  const read = (reply: Buffer, contentType: string, call: VendorCall): VendorAnswer | Fault => {
    const result = adapter.read(reply, contentType, call);
    return isPending(result) ? protocolFault('an answer that comes later') : result;
  };
  return {
    ...adapter,
    read,
    stream: (call, contentType) => new ImageEvents(call, contentType, faults, read),
  };
}

type Read = (reply: Buffer, contentType: string, call: VendorCall) => VendorAnswer | Fault;

class ImageEvents implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #call: VendorCall;
  readonly #faults: readonly FaultRule[];
  readonly #frames: Frames;
  readonly #read: Read;
  #out = '';
  #completed = 0;

  constructor(call: VendorCall, contentType: string, faults: readonly FaultRule[], read: Read) {
    this.#call = call;
    this.#faults = faults;
    this.#read = read;
    const whole = contentType.startsWith('application/json');
    this.#frames = whole
      ? new WholeFrames((data) => this.#whole(data))
      : new SseFrames((data, name) => this.#event(data, name));
  }

  push(piece: Buffer): string {
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault ??= protocolFault(problem);
    return this.#taken();
  }

  end(): string {
    const rest = this.#frames.end();
    const body = parse(rest);
    if (isObject(body)) this.meter.fault ??= faultWithin(body, this.#faults);
    if (!this.meter.finished)
      this.meter.fault ??= protocolFault('the stream ended without its picture');
    return this.#taken();
  }

  /**
   * The greatest possible cost is reserved before the request, so that funds never cut the stream.
   */
  cutShort(): string {
    return '';
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #event(data: string, name: string): boolean {
    if (data === '[DONE]') return true;
    const body: Documented<ImageEvent> | undefined = objectOf(parse(data));
    if (body === undefined) return this.#fail(protocolFault('an event that is no JSON object'));
    const type = textOf(body.type) ?? name;
    if (type === 'error' || body.error !== undefined) return this.#fail(this.#faultOf(body));
    this.#out += `${name === '' ? '' : `event: ${name}\n`}data: ${data}\n\n`;
    if (/\.(?:partial_image|completed)$/.test(type)) this.meter.outputBytes += 1;
    if (type.endsWith('.completed')) this.#complete(body);
    return true;
  }

  #complete(body: Documented<ImageEvent>): void {
    this.#completed += 1;
    const usage = openaiImageUsage(body.usage);
    this.meter.quantities = { ...this.meter.quantities, ...usage, image: this.#completed };
    this.meter.finished = true;
    this.meter.done = this.#completed >= imageRequestOf(this.#call).n;
  }

  /** The vendor sent a whole answer although the request asked for a stream. */
  #whole(data: string): boolean {
    const answer = this.#read(Buffer.from(data, 'latin1'), 'application/json', this.#call);
    if (isFault(answer)) return this.#fail(answer);
    const request = imageRequestOf(this.#call);
    const pictures = (answer.pictures ?? []).flatMap(({ from, revisedPrompt }) =>
      'base64' in from
        ? [{ b64_json: from.base64, ...(revisedPrompt ? { revised_prompt: revisedPrompt } : {}) }]
        : [],
    );
    if (pictures.length === 0)
      return this.#fail(protocolFault('an address where a stream was asked for'));
    this.#out += completedEvents(pictures, {
      kind: request.images.length > 0 ? 'image_edit' : 'image_generation',
      told: objectOf(parse(answer.body.toString('utf8'))) ?? {},
      request,
      body: this.#call.body,
      quantities: answer.quantities,
    });
    this.meter.outputBytes = pictures.length;
    this.meter.quantities = { ...answer.quantities, image: pictures.length };
    this.meter.finished = true;
    this.meter.done = true;
    return true;
  }

  #faultOf(body: Documented<ImageEvent>): Fault {
    const error = objectOf(body.error) ?? body;
    return faultWithin({ error }, this.#faults) ?? protocolFault('an error that is not told');
  }

  #fail(fault: Fault): boolean {
    this.meter.fault = fault;
    return false;
  }
}
