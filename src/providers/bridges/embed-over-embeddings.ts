import {
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  rawElements,
  rawMembers,
  textOf,
} from '../../base/json.ts';
import type { VendorAnswer, VendorCall, WholeAdapter } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import type { EmbedContentRequest } from '../formats/gemini/request-types.ts';
import { inCamelCase } from '../conversation/spelling.ts';
import { refuseParam } from '../support/rules.ts';
import { partsOf } from './generate-over-chat-turns.ts';

/**
 * `embedContent` and `batchEmbedContents` for models whose vendor has embeddings
 * (ai.google.dev/api/embeddings, 2026-11, in the other direction). `tasks`: the vendor reads
 * Google's names of tasks.
 */
export function embedOverEmbeddings(embeddings: WholeAdapter, tasks = false): WholeAdapter {
  const own = (call: VendorCall): VendorCall => call.translated ?? asEmbeddings(call, tasks);
  return {
    textOnly: embeddings.textOnly,
    ask(call) {
      const asked = own(call);
      const ask = embeddings.ask(asked);
      return asked.dropped === undefined ? ask : { ...ask, dropped: asked.dropped };
    },
    read(reply, contentType, call) {
      const read = embeddings.read(reply, contentType, own(call));
      // A part of a split call is joined first.
      return isFault(read) || call.translated !== undefined ? read : embedAnswer(read, call);
    },
    split(call) {
      const split = embeddings.split?.(own(call));
      if (split === undefined) return undefined;
      return {
        ...split,
        calls: split.calls.map((part) => ({ ...call, translated: part })),
        join: (answers) => embedAnswer(split.join(answers), call),
      };
    },
    fault: embeddings.fault,
  };
}

type EmbedRequest = Documented<EmbedContentRequest>;

const requestsOf = (body: JsonObject): readonly EmbedRequest[] => {
  const request: EmbedRequest & JsonObject = inCamelCase(body);
  return Array.isArray(request['requests']) ? objectsOf(request['requests']) : [request];
};

function asEmbeddings(call: VendorCall, tasks: boolean): VendorCall {
  const requests = requestsOf(call.body);
  const same = <Name extends 'taskType' | 'outputDimensionality'>(name: Name) => {
    const [first] = requests;
    const other = requests.findIndex((request) => request[name] !== first?.[name]);
    if (other >= 0)
      refuseParam(
        `requests[${other}].${name}`,
        call.publicModel,
        'it makes all vectors of a request in one way.',
      );
    return first?.[name];
  };
  const taskType = textOf(same('taskType'));
  const dimensions = same('outputDimensionality');
  const body = {
    model: call.publicModel,
    input: requests.map((request) =>
      partsOf(objectOf(request.content))
        .map((part) => textOf(part.text) ?? '')
        .join('\n'),
    ),
    encoding_format: 'float',
    ...(dimensions == null ? {} : { dimensions }),
    ...(taskType !== undefined && tasks ? { task_type: taskType } : {}),
  };
  const dropped = [
    ...(taskType === undefined || tasks ? [] : ['taskType']),
    ...(requests.some(({ title }) => title != null) ? ['title'] : []),
  ];
  return {
    ...call,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    skeleton: undefined,
    dropped: dropped.length > 0 ? dropped : undefined,
  };
}

/** The vectors keep the vendor's numbers. */
function embedAnswer(answer: VendorAnswer, call: VendorCall): VendorAnswer {
  const members = rawMembers(answer.body.toString('latin1').trim());
  const vectors = rawElements(members.get('data')).map(
    (item) => `{"values":${rawMembers(item).get('embedding') ?? '[]'}}`,
  );
  const isBatch = listOf(inCamelCase(call.body)['requests']).length > 0;
  const told = isBatch
    ? `"embeddings":[${vectors.join(',')}]`
    : `"embedding":${vectors[0] ?? '{"values":[]}'}`;
  const tokens = answer.quantities?.input;
  const usage = tokens === undefined ? '' : `,"usageMetadata":{"promptTokenCount":${tokens}}`;
  return { ...answer, body: Buffer.from(`{${told}${usage}}`, 'latin1') };
}
