import type { Fault } from '../../../base/fault.ts';
import { type Documented, objectOf, parse, textOf } from '../../../base/json.ts';
import { faultOf, type FaultHeaders, type FaultRule } from '../fault.ts';
import type { ConverseError, ConverseException } from './types.ts';

/**
 * Exceptions by name and, where one name means many things, by their text:
 * docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html,
 * APIReference/CommonErrors.html, 2026-08, and recorded ones.
 */
const faults: readonly FaultRule[] = [
  {
    code: /^(UnrecognizedClient|ExpiredToken|InvalidSignature|SignatureDoesNotMatch|IncompleteSignature|MissingAuthenticationToken|InvalidClientTokenId|OptInRequired|NotAuthorized)/i,
    kind: 'credentials',
  },
  // A subscription that cannot be paid: the account's problem, although the message names the
  // model.
  { text: /INVALID_PAYMENT_INSTRUMENT|valid payment instrument/, kind: 'quota' },
  {
    text: /access to the model|model access|end of its life|marked by provider as Legacy/i,
    kind: 'unknown_model',
  },
  { code: /^AccessDenied/, kind: 'credentials' },
  { code: /^Validation/, openings: ['Operation not allowed'], kind: 'credentials' },
  { code: /^(ResourceNotFound|UnknownOperation)/, kind: 'unknown_model' },
  { code: /^(Throttling|TooManyRequests|ServiceQuotaExceeded)/i, kind: 'rate_limited' },
  { code: /^(ModelNotReady|ServiceUnavailable)/i, kind: 'overloaded' },
  { code: /^ModelTimeout/i, kind: 'timeout' },
  {
    code: /^(InternalServer|InternalFailure|ModelError|ModelStreamError)/i,
    kind: 'server_error',
  },
  {
    code: /^Validation/i,
    text: /input tokens exceeded|exceeds? (the )?(maximum|model)|maximum (context|length|tokens)|too many (input )?tokens|too long/i,
    kind: 'context_length',
  },
  { code: /^Validation/i, text: /content filter|responsible AI/i, kind: 'content_policy' },
  // Inside a stream, the exception's name is the only information.
  { status: 0, code: /^Validation/i, kind: 'bad_request' },
];

/** Resource names that contain the operator's AWS account, which clients must not see. */
const account = /arn:aws[\w-]*:[\w:/.*+@-]+/g;

/**
 * Reads Bedrock's refusal: `{"message"}`, with its name in a header that goes on with an address
 * (`ThrottlingException:http://…`) or in `__type`.
 */
export function converseFault(status: number, headers: FaultHeaders, reply: string): Fault {
  const body: Documented<ConverseError> | undefined = objectOf(parse(reply));
  if (!body) return faultOf(status, headers, reply, faults);
  const header = headers['x-amzn-errortype'];
  const name =
    (Array.isArray(header) ? header[0] : header) ??
    textOf(body.__type) ??
    textOf(body.code) ??
    usual[status] ??
    '';
  return named(name, textOf(body.message) ?? textOf(body.Message) ?? '', status, headers);
}

/** The exception for a status without a name. */
const usual: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  429: 'ThrottlingException',
};

/** The fault for an exception inside a stream, or in the place of an answer. */
export const converseException = (
  name: string,
  data: Documented<ConverseException> | undefined,
): Fault => named(name, textOf(data?.message) ?? textOf(data?.originalMessage) ?? '', 0, {});

function named(name: string, message: string, status: number, headers: FaultHeaders): Fault {
  const code = name.replace(/^.*#/, '').split(':')[0] ?? '';
  const text = (message || code)
    .replace(account, '***')
    .replace(/^The model returned the following errors: /, '');
  return faultOf(status, headers, JSON.stringify({ message: text, code }), faults);
}
