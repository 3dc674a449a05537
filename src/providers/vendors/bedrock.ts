import { AwsSigner, awsKeys } from '../../base/sigv4.ts';
import { countsOverChat } from '../bridges/index.ts';
import { converseCount, bedrockConverse } from '../formats/bedrock-converse/adapter.ts';
import { bedrockEmbeddings, bedrockRerank } from '../formats/embeddings/bedrock.ts';
import { bearer, defineVendor, type Authorizer, type VendorContext } from '../vendor.ts';

/** The region in the host's name; `us-east-1` for a private address without one. */
const regionIn = (host: string): string =>
  /\.([a-z]{2}(?:-[a-z]+)+-\d+)\./.exec(host)?.[1] ?? 'us-east-1';

/** An access key pair signs every request; an API key is sent as it is. */
function authorizer(secret: string | undefined, { now }: VendorContext): Authorizer | undefined {
  const keys = awsKeys(secret);
  if (!keys) return undefined;
  let signer: AwsSigner | undefined;
  return (outgoing) => {
    signer ??= new AwsSigner(keys, regionIn(new URL(outgoing.url).hostname), 'bedrock');
    return { headers: signer.sign(outgoing, now()) };
  };
}

/** Every installation has a region of its own, and so a base URL. */
export const bedrock = defineVendor({
  id: 'bedrock',
  consoleUrl: 'https://console.aws.amazon.com/bedrock',
  provider: 'aws.bedrock',
  ownedBy: 'amazon',
  env: { apiKey: 'AWS_BEARER_TOKEN_BEDROCK', baseUrl: 'BEDROCK_BASE_URL' },
  sign: (secret) => (awsKeys(secret) ? {} : bearer(secret)),
  authorizer,
  readsCacheMarks: true,
  adapters: { chat: bedrockConverse, embeddings: bedrockEmbeddings, rerank: bedrockRerank },
  counts: countsOverChat(converseCount, true),
});
