/**
 * Tests that send on purpose what a vendor refuses: by file, or the folder that begins so, and what
 * their name holds.
 */
export const rubbish: readonly {
  readonly file: string;
  readonly test?: string;
  readonly why: string;
}[] = [
  {
    file: 'src/providers/conformance.test.ts',
    why: 'members that nobody knows pass to vendors of the client’s own format, whatever they make of them',
  },
  {
    file: 'src/providers/support/effort.test.ts',
    test: 'names an effort',
    why: 'an effort that nobody knows is the vendor’s to judge',
  },
  {
    file: 'src/providers/vendors/completions.test.ts',
    test: 'has no word for',
    why: 'the vendor’s refusal is the answer',
  },
  {
    file: 'src/providers/formats/openai-responses/chat.test.ts',
    test: 'a conversation becomes items',
    why: 'its schema is there to be moved, not to be strict',
  },
  {
    file: 'src/providers/formats/openai-chat/adapter.test.ts',
    test: 'sampling',
    why: 'fragments of a request, without its messages',
  },
  {
    file: 'src/providers/support/support.test.ts',
    test: 'a member that nobody knows passes',
    why: 'so it says',
  },
  {
    file: 'src/providers/support/effort.test.ts',
    test: 'reads no picture, which names the part',
    why: 'a part that nobody knows passes',
  },
  {
    file: 'src/providers/support/effort.test.ts',
    test: 'vllm m is told',
    why: 'templates of its models have words of their own, which pass',
  },
  {
    file: 'src/providers/formats/embeddings/vectors.test.ts',
    test: 'byte for byte',
    why: 'a member that nobody knows passes',
  },
  {
    file: 'test/chat.test.ts',
    test: 'as they came but for the model',
    why: 'a member that nobody knows passes',
  },
  {
    file: 'test/messages.test.ts',
    test: 'each class of tokens has its price',
    why: 'a member that nobody knows passes',
  },
  {
    file: 'test/hedging.test.ts',
    test: 'is asked for once',
    why: 'what a vendor runs is asked of one that does not, to see that it is asked once',
  },
  {
    file: 'test/openapi.test.ts',
    why: 'probes of all that the door lets in, whatever a vendor makes of it',
  },
  {
    file: 'test/injection-attack.test.ts',
    test: 'where its request goes',
    why: 'members that nobody knows pass, and steer nothing',
  },
  {
    file: 'test/attack.test.ts',
    test: 'million brackets',
    why: 'a member that nobody knows passes',
  },
  {
    file: 'test/recordings',
    why: 'recorded requests of all houses, those that were refused too, are played to the adapters',
  },
  { file: 'test/responses-recordings.test.ts', why: 'the same' },
  { file: 'test/matrix.test.ts', why: 'a judge of its own, which counts what it finds' },
  { file: 'test/round-trips.test.ts', why: 'the same' },
  { file: 'test/native-comparison.test.ts', why: 'the same' },
  {
    file: 'test/gemini-judge.test.ts',
    test: 'passed on, whole',
    why: 'requests that were refused when they were recorded are repeated',
  },
  { file: 'test/fuzz/', why: 'rubbish is what it sends' },
];
