const messageMax = 1000;
/**
 * The most characters of a message that are read: it may repeat a long text of a client, and the
 * patterns take time.
 */
const charsReadMax = 4 * messageMax;

/** Vendors' names for the operator's account. */
const account =
  '(?:organi[sz]ation|org|project|workspace|tenant|subscription|account|team|api key)';
/**
 * Hosts inside the operator's network: private and local addresses, and names with an internal
 * ending.
 */
const innerHost = [
  'localhost',
  String.raw`(?:127|10)(?:\.\d{1,3}){3}`,
  String.raw`(?:192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)(?:\.\d{1,3}){2}`,
  String.raw`[\w.-]{1,200}\.(?:internal|local|lan|svc|intranet|corp)`,
].join('|');

const redactions: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:sk|gsk|xai|pplx|csk|fw|hf|nvapi|tgp|key|ak|bce-v3|ABSK)[-_/](?=[\w*.\-/]*[\d*])[\w*.\-/]{6,}/gi,
    '***',
  ],
  // Keys whose middle the vendor itself has masked.
  [/(?<![\w-])[\w-]*\*{3,}[\w-]*/g, '***'],
  [/\b(?:org|proj|user|acct|project|ws)[-_](?=[A-Za-z]*[\dA-Z])[A-Za-z0-9]{8,}/g, '***'],
  [/\bBearer\s+\S+/gi, 'Bearer ***'],
  [/\barn:aws[\w-]*:[\w:/.-]+/g, '***'],
  [/\bprojects\/[^\s/'"`]+/g, 'projects/***'],
  [
    new RegExp(
      String.raw`\bhttps?:\/\/(?:${innerHost}|[\w-]+(?=[:/]))(?::\d+)?(?:\/[^\s"'<>)\],;]*)?`,
      'gi',
    ),
    '***',
  ],
  [new RegExp(String.raw`(?<![\w.-])(?:${innerHost}):\d{2,5}\b`, 'gi'), '***'],
  [
    new RegExp(
      String.raw`\b(${account}(?:[ _-](?:id|name))?)(\s*[:=]\s*|\s+(?:is\s+)?)(["'\`])[^"'\`]{1,100}\3`,
      'gi',
    ),
    '$1$2***',
  ],
  [
    new RegExp(
      String.raw`\b(${account}(?:[ _-](?:id|name))?)(\s*[:=]\s*|\s+)(?=[\w-]*\d)[\w-]{6,100}`,
      'gi',
    ),
    '$1$2***',
  ],
  [/\b(organi[sz]ation(?:[ _-](?:id|name))?)(\s*[:=]\s*)[^\s,;)]+/gi, '$1$2***'],
  [/[\u0000-\u001f\u007f]+/g, ' '],
];

/**
 * The vendor's message without the operator's secrets: keys, organisations, ids of accounts,
 * addresses inside the network.
 */
export function sanitizeVendorMessage(message: string): string {
  const clean = redactions
    .reduce(
      (text, [pattern, instead]) => text.replace(pattern, instead),
      message.slice(0, charsReadMax),
    )
    .trim();
  return clean.length > messageMax ? `${clean.slice(0, messageMax)}…` : clean;
}
