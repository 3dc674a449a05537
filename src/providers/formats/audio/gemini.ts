import { listOf, objectOf, parse, textOf, type Documented, objectsOf } from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { protocolFault } from '../fault.ts';
import { geminiFault, geminiFaultWithin } from '../gemini/fault.ts';
import { modelPath } from '../gemini/request.ts';
import { geminiQuantities } from '../gemini/response.ts';
import type { GenerateContentResponse, UsageMetadata } from '../gemini/types.ts';
import { jsonRequest } from '../json-request.ts';
import { SpeechStream, type SpeechEvent, speechMembers, voiceFormat, voiceOf } from './speech.ts';

const usualHz = 24_000;

/**
 * Speech by Gemini's models (ai.google.dev/gemini-api/docs/speech-generation, 2026-08):
 * generateContent with one modality, AUDIO, whose answer holds bare samples in base64. Instructions
 * on how to speak stand before the text.
 */
export const geminiSpeech: AudioAdapter = {
  ask(call) {
    const { input, instructions } = speechRequestOf(call);
    voiceFormat(call, ['wav', 'pcm']);
    const voiceConfig = { prebuiltVoiceConfig: { voiceName: voiceOf(call, 'Kore') } };
    const body = {
      contents: [
        {
          role: 'user',
          parts: [{ text: instructions === undefined ? input : `${instructions}: ${input}` }],
        },
      ],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig } },
    };
    return {
      ...jsonRequest(`${modelPath(call.upstreamModel)}:streamGenerateContent?alt=sse`, body),
      dropped: notSent(call, speechMembers, ['voice', 'instructions']),
    };
  },
  read(reply) {
    const body = parse(reply.toString('utf8'));
    return (
      geminiFaultWithin(body) ??
      protocolFault(`an answer that is no sound: ${reply.toString('utf8', 0, 120)}`)
    );
  },
  stream(call, contentType) {
    const made = voiceFormat(call, ['wav', 'pcm']);
    const from = contentType.startsWith('text/event-stream') ? 'events' : 'json';
    return new SpeechStream(
      call,
      made,
      { from, read: readEvent },
      made === 'wav' ? { hz: usualHz } : undefined,
    );
  },
  fault: geminiFault,
};

function readEvent(event: Documented<GenerateContentResponse>): SpeechEvent {
  const fault = geminiFaultWithin(event);
  if (fault !== undefined) return { fault };
  const candidate = objectOf(listOf(event.candidates)[0]);
  const reason =
    textOf(candidate?.finishReason) ?? textOf(objectOf(event.promptFeedback)?.blockReason);
  if (reason !== undefined && /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/.test(reason))
    return {
      fault: { kind: 'content_policy', message: `The model does not say this (${reason}).` },
    };
  const parts = objectsOf(objectOf(candidate?.content)?.parts);
  const sound = parts
    .map((part) => textOf(objectOf(part.inlineData)?.data) ?? '')
    .map((data) => Buffer.from(data, 'base64'));
  const usage = objectOf(event.usageMetadata);
  return {
    sound: Buffer.concat(sound),
    quantities: usage && spoken(usage),
    upstreamId: textOf(event.responseId),
    done: reason !== undefined,
  };
}

/** The quantities of speech: all output is audio, whether or not the details say so. */
function spoken(usage: Documented<UsageMetadata>): SpeechEvent['quantities'] {
  const { output = 0, audio_output: audio = 0, ...rest } = geminiQuantities(usage);
  return { ...rest, audio_output: audio + output };
}
