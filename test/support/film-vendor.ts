import type { ServerResponse } from 'node:http';
import { mp4Of } from '../../sim/media/mp4.ts';
import { json, type Received, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

export const aFilm = mp4Of({ seconds: 1, width: 160, height: 90 });

/** A vendor of OpenAI's video format; the test decides how its tasks end. */
export interface FilmVendor extends ScriptedVendor {
  readonly url: string;
  /** The submissions, by the vendor's id. */
  readonly tasks: ReadonlyMap<string, Record<string, unknown>>;
  /**
   * The responses to the next submissions and polls; by default both succeed, and every task is
   * done at its first poll.
   */
  onSubmit: ((response: ServerResponse, received: Received) => boolean) | undefined;
  onPoll: ((id: string, response: ServerResponse) => boolean) | undefined;
  state: object;
  polls: number;
  /** Requests to cancel a task. */
  readonly cancelled: string[];
}

export async function startFilmVendor(): Promise<FilmVendor> {
  const vendor = await startVendor();
  const tasks = new Map<string, Record<string, unknown>>();
  const films: FilmVendor = Object.assign(vendor, {
    tasks,
    onSubmit: undefined,
    onPoll: undefined,
    state: { status: 'completed', progress: 100 },
    polls: 0,
    cancelled: [],
  });
  vendor.answer((received, response) => {
    const [, id, content] = /\/videos\/([^/?]+)(\/content)?/.exec(received.url) ?? [];
    if (received.method === 'POST') {
      const made = `up_${tasks.size + 1}`;
      if (films.onSubmit?.(response, received) === true) return;
      tasks.set(made, JSON.parse(received.text));
      return json(
        response,
        200,
        JSON.stringify({ id: made, object: 'video', status: 'queued', progress: 0 }),
      );
    }
    if (content !== undefined) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': aFilm.length });
      return response.end(aFilm);
    }
    if (received.method === 'DELETE') {
      films.cancelled.push(id ?? '');
      return json(response, 200, JSON.stringify({ id, object: 'video.deleted', deleted: true }));
    }
    films.polls += 1;
    if (films.onPoll?.(id ?? '', response) === true) return;
    if (!tasks.has(id ?? ''))
      return json(
        response,
        404,
        JSON.stringify({
          error: { message: 'Video not found', type: 'invalid_request_error', code: 'not_found' },
        }),
      );
    return json(response, 200, JSON.stringify({ id, object: 'video', ...films.state }));
  });
  return films;
}

/** Two kinds of video over one channel: by the second, and by the clip with variants. */
export const films = (vendorUrl: string, extra = ''): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: sora-2, owned_by: openai, kind: video, durations: [5, 10, 15, 20], price: { second: 0.7 } }
  - { id: clip, owned_by: openai, kind: video, durations: [6], price: { request: 5, by: { 720p/6: 2, 1080p/6: 3 } } }
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: films, vendor: openai-compatible, base_url: "${vendorUrl}/v1", api_key: up-key, models: [{ id: sora-2, upstream: up-video }, { id: clip, upstream: up-clip }, m1] }
${extra}`;

/** Polling that is as fast as tests need it. */
export const quickTasks = { pollMsMin: 20, pollMsMax: 40, lookEveryMs: 10, backoffMsMax: 60 };
