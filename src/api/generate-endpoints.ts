import { countInput } from '../gateway/count-tokens.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import { ArrayResponse } from '../http/array-response.ts';
import { embedFormat, parseBatchEmbedContents, parseEmbedContent } from './embed-content.ts';
import { type Endpoint, type RequestContext, queryOf } from './endpoint.ts';
import { generateConvention } from './entry.ts';
import type { InlinedFiles } from './inlined-files.ts';
import { generateFormat, parseGenerate, parseTokenCountOf, renderTotalTokens } from './generate.ts';
import { idempotent } from './idempotency.ts';
import { modelIdOf, modelPrefixes } from './generate-models.ts';
import { takeJson, type ParsedJson } from './request-body.ts';

/** A method of a model: the last colon of the path stands before its name. */
const methodOf = (name: string, handle: Endpoint['handle']): Endpoint => ({
  method: 'POST',
  path: `/models/*:${name}`,
  aliases: modelPrefixes.map((prefix) => `${prefix}/models/*:${name}`),
  convention: generateConvention,
  handle,
});

const askedBy = ({ id, principal, request }: RequestContext) => ({
  id,
  principal,
  model: modelIdOf(request.params['*'] ?? ''),
});

const bodyOf = ({ request }: RequestContext): ParsedJson => takeJson(request);

/** A stream is events where the client asks for them, and else an array. */
const wantsEvents = ({ request }: RequestContext): boolean =>
  queryOf(request.url).get('alt') === 'sse';

/** The methods of models under `/v1beta/models`. */
export function generateEndpoints(
  parts: GatewayParts,
  files: InlinedFiles,
  idempotency: IdempotentRequests,
): readonly Endpoint[] {
  const charged = (name: string, handle: Endpoint['handle']): Endpoint =>
    idempotent(idempotency, methodOf(name, handle));
  return [
    charged('generateContent', (context) =>
      files.handle(context, bodyOf(context), (sent) =>
        run(parts, parseGenerate(askedBy(context), sent, false), context.response, generateFormat),
      ),
    ),
    charged('streamGenerateContent', (context) =>
      files.handle(context, bodyOf(context), (sent) =>
        run(
          parts,
          parseGenerate(askedBy(context), sent, true),
          wantsEvents(context) ? context.response : new ArrayResponse(context.response),
          generateFormat,
        ),
      ),
    ),
    methodOf('countTokens', (context) =>
      files.handle(context, bodyOf(context), (sent) =>
        countInput(
          parts,
          parseTokenCountOf(askedBy(context), sent),
          context.response,
          renderTotalTokens,
        ),
      ),
    ),
    charged('embedContent', (context) =>
      run(
        parts,
        parseEmbedContent(askedBy(context), bodyOf(context)),
        context.response,
        embedFormat,
      ),
    ),
    charged('batchEmbedContents', (context) =>
      run(
        parts,
        parseBatchEmbedContents(askedBy(context), bodyOf(context)),
        context.response,
        embedFormat,
      ),
    ),
  ];
}
