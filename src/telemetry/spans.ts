import {
  type Attributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { type AccessLine, answeredOutcomes } from './request-metrics.ts';
import type { TracedAttempt, TracedRequest, Traces } from './traces.ts';

export interface SpanOptions {
  readonly version: string;
  readonly clock: Clock;
  /** Called when spans could not be sent. */
  readonly trouble: (error: unknown) => void;
}

/** Sends spans to the endpoint that the `OTEL_…` variables name, which the SDK reads itself. */
export function openSpans({ version, clock, trouble }: SpanOptions): Traces {
  setGlobalErrorHandler(trouble);
  const ours = resourceFromAttributes({ 'service.name': 'tollgate', 'service.version': version });
  // The variables' service attributes win.
  const resource = defaultResource()
    .merge(ours)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  return new Spans(provider.getTracer('tollgate', version), clock, () => provider.shutdown());
}

interface OpenSpan {
  readonly at: number;
  readonly request: TracedRequest;
  readonly attempts: TracedAttempt[];
  line?: AccessLine;
  refused?: { readonly status: number; readonly refusal: string };
}

const headers: TextMapGetter<IncomingHttpHeaders> = {
  get: (all, name) => all[name],
  keys: (all) => Object.keys(all),
};

/** Makes spans once a request is over: until then, a request costs one entry in a map. */
class Spans implements Traces {
  readonly #running = new Map<string, OpenSpan>();
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  readonly close: () => Promise<void>;

  constructor(tracer: Tracer, clock: Clock, close: () => Promise<void>) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.close = close;
  }

  began(id: string, at: number, request: TracedRequest): void {
    this.#running.set(id, { at, request, attempts: [] });
  }

  attempted(id: string, attempt: TracedAttempt): void {
    this.#running.get(id)?.attempts.push(attempt);
  }

  finished(line: AccessLine): void {
    const running = this.#running.get(line.id);
    if (running !== undefined) running.line = line;
  }

  refused(id: string, status: number, refusal: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.refused = { status, refusal };
  }

  ended(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    const { at, request, attempts, line, refused } = running;
    const parent = this.#propagator.extract(ROOT_CONTEXT, request.headers, headers);
    const route = routeOf(request.url);
    const answered = refused?.status ?? line?.status ?? 200;
    const error =
      refused?.refusal ?? (line === undefined || ends.has(line.outcome) ? undefined : line.outcome);
    const attributes = {
      ...requestAttributes(id, request, route, answered, error),
      ...lineAttributes(line),
    };
    const server = this.#tracer.startSpan(
      `${request.method} ${route}`,
      { kind: SpanKind.SERVER, startTime: at, attributes },
      parent,
    );
    if (answered >= 500) server.setStatus({ code: SpanStatusCode.ERROR });
    const inside = trace.setSpan(parent, server);
    const sinceMs = this.#clock.now() - this.#clock.monotonicMs();
    for (const attempt of attempts) {
      const name = `${operationOf(attempt.capability)} ${attempt.upstreamModel}`;
      const attributes = attemptAttributes(attempt, attempt === attempts.at(-1) ? line : undefined);
      const span = this.#tracer.startSpan(
        name,
        { kind: SpanKind.CLIENT, startTime: sinceMs + attempt.beganMonotonicMs, attributes },
        inside,
      );
      if (attempt.error !== undefined && attempt.error !== clientLeft)
        span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(sinceMs + attempt.endedMonotonicMs);
    }
    server.end(this.#clock.now());
  }
}

/** Outcomes that are no error. */
const ends: ReadonlySet<string> = new Set([...answeredOutcomes, 'submitted']);
const clientLeft = 'left';

/**
 * A path with its ids left out, so that the number of routes stays small. Of our own path segments,
 * only the version contains a digit.
 */
function routeOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path
    .split('/')
    .map((step) => (/\d/.test(step) && !version.test(step) ? `{id}${methodIn(step)}` : step))
    .join('/');
}

const version = /^v1(?:beta1?)?$/;

/** `:generateContent`, which stands behind the id of a model. */
const methodIn = (step: string): string => /:[a-zA-Z]{1,32}$/.exec(step)?.[0] ?? '';

/**
 * opentelemetry.io/docs/specs/semconv/http/http-spans, 1.41, and attributes that only a gateway
 * knows. Paths of unknown routes may hold model names and ids.
 */
function requestAttributes(
  id: string,
  { method }: TracedRequest,
  route: string,
  status: number,
  error: string | undefined,
): Attributes {
  return {
    'http.request.method': method,
    'http.route': route,
    'url.path': route,
    'url.scheme': 'http',
    'http.response.status_code': status,
    'tollgate.request.id': id,
    ...(error === undefined ? {} : { 'error.type': error }),
  };
}

function lineAttributes(line: AccessLine | undefined): Attributes {
  if (line === undefined) return {};
  return {
    'tollgate.model': line.model,
    'tollgate.group': line.group,
    'tollgate.user.id': line.userId,
    'tollgate.key.id': line.keyId,
    'tollgate.outcome': line.outcome,
    'tollgate.attempts': line.attempts,
    'tollgate.cost_nano': line.cost,
  };
}

/**
 * opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans, 2026-11. The content of requests and
 * answers is left out.
 */
function attemptAttributes(attempt: TracedAttempt, line: AccessLine | undefined): Attributes {
  const { hostname, port, protocol } = new URL(attempt.url);
  const counted = attempt.error === undefined && line !== undefined;
  return {
    'gen_ai.operation.name': operationOf(attempt.capability),
    'gen_ai.provider.name': attempt.provider,
    'gen_ai.request.model': attempt.upstreamModel,
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    'tollgate.channel': attempt.channel,
    ...(outputs[attempt.capability] === undefined
      ? {}
      : { 'gen_ai.output.type': outputs[attempt.capability] }),
    ...(attempt.stream ? { 'gen_ai.request.stream': true } : {}),
    ...(attempt.firstByteMs === undefined
      ? {}
      : { 'gen_ai.response.time_to_first_chunk': attempt.firstByteMs / 1_000 }),
    ...(counted
      ? {
          'gen_ai.usage.input_tokens': line.inputTokens,
          'gen_ai.usage.output_tokens': line.outputTokens,
        }
      : {}),
    ...(attempt.error === undefined ? {} : { 'error.type': attempt.error }),
  };
}

const operations: Readonly<Record<string, string>> = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
  embed_content: 'embeddings',
  images: 'generate_content',
  image_edits: 'generate_content',
  image_variations: 'generate_content',
  speech: 'generate_content',
};

/** The operation name of the conventions; our own name where they have none. */
const operationOf = (capability: string): string => operations[capability] ?? capability;

const outputs: Readonly<Record<string, string>> = {
  images: 'image',
  image_edits: 'image',
  image_variations: 'image',
  speech: 'speech',
};
