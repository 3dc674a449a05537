import type { Parts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import { readForm } from '../http/multipart.ts';
import { parseJson } from './check.ts';
import type { Endpoint } from './door.ts';
import { parseSpeech, speechFormat } from './speech.ts';
import { parseTranscription, transcriptionFormat, transcriptionLimits } from './transcriptions.ts';

/** What is said, written down and read aloud. */
export function audioEndpoints(parts: Parts): readonly Endpoint[] {
  return [
    listen(parts, 'transcriptions'),
    listen(parts, 'translations'),
    {
      method: 'POST',
      path: '/audio/speech',
      handle({ id, principal, request, reply }) {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        const asked = parseSpeech(id, principal, body, bytes);
        return run(parts, asked, reply, speechFormat(asked.speak));
      },
    },
  ];
}

function listen(parts: Parts, task: 'transcriptions' | 'translations'): Endpoint {
  return {
    method: 'POST',
    path: `/audio/${task}`,
    body: 'stream',
    async handle({ id, principal, request, reply }) {
      const form = await readForm(request.body, request.headers, transcriptionLimits, parts.spools);
      if (form === 'left') return;
      try {
        await run(
          parts,
          await parseTranscription(id, principal, form, task),
          reply,
          transcriptionFormat,
        );
      } finally {
        form.discard();
      }
    },
  };
}
