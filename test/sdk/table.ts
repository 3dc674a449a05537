import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { models, type SimModel, simConfig, type Skill } from '../../sim/catalog.ts';
import { type Sim, startSim } from '../../sim/index.ts';
import { ownFormats } from '../../sim/vendors.ts';
import { long } from '../support/long.ts';
import { openTemporaryGateway, type Temporary } from '../support/temporary.ts';
import type { OpenSdk, Question, Sdk, Told } from './sdk.ts';

/** Begins soon, and goes on for longer than a client takes to leave. */
const leaving = 'sim-slow-20ms+sim-long-150';
const tooLong = 'sim-context';
const failing = 'sim-500';
const breaking = 'sim-error-in-stream';

const hello = 'Hello, who are you?';
const oneCity = 'What is the weather in Paris?';
const twoCities = 'The weather in both Paris and Rome, please.';
const paris = { name: 'get_weather', input: { city: 'Paris' } };
const rome = { name: 'get_weather', input: { city: 'Rome' } };

/** What one cell of the table works with. */
interface Cell {
  readonly sdk: Sdk;
  readonly model: SimModel;
  readonly sim: Sim;
  ask(question: Partial<Question>): Promise<Told>;
  expectDone(told: Told): void;
}

/**
 * The columns. A model that lacks the skill refuses with the client's 400 instead, and is charged
 * nothing.
 */
const columns: readonly {
  readonly name: string;
  readonly needs?: Skill | ((sdk: Sdk) => readonly Skill[]);
  readonly works: (cell: Cell) => Promise<void>;
}[] = [
  { name: 'text, whole and streamed', works: sayTheSame },
  {
    name: 'a tool, its call and its result',
    needs: 'tools',
    works: (cell) => callTools(cell, oneCity, [paris], false),
  },
  {
    name: 'a tool in a stream',
    needs: 'tools',
    works: (cell) => callTools(cell, oneCity, [paris], true),
  },
  {
    name: 'two tools at once',
    needs: 'tools',
    works: (cell) => callTools(cell, twoCities, [paris, rome], false),
  },
  {
    name: 'two tools at once in a stream',
    needs: 'tools',
    works: (cell) => callTools(cell, twoCities, [paris, rome], true),
  },
  { name: 'an image', needs: 'image', works: see },
  { name: 'an answer by schema', needs: ({ schemaNeeds }) => schemaNeeds, works: followSchema },
  { name: 'thinking', works: think },
  { name: 'a client that leaves', works: leave },
  { name: 'a prompt that is too long is the client’s mistake', works: refuseLong },
  { name: 'a vendor that fails, before its answer and within', works: failAndBreak },
];

/**
 * What a package can tell from another model: whose format is translated, whose answers they are,
 * and what the model can do.
 */
function kindOf({ vendor, ownedBy, skills }: SimModel): string {
  const format = ownFormats.some((own) => own.vendor === vendor) ? `${vendor} ${ownedBy}` : 'chat';
  return [format, ...skills].join(' ');
}

const oneOfEachKind = [...new Map(models.map((model) => [kindOf(model), model])).values()];

/** Models of the simulator's catalog, asked through the gateway with one package. */
export function sdkTable(
  open: OpenSdk,
  asked: readonly SimModel[] = long ? models : oneOfEachKind,
): void {
  let sim: Sim;
  let temporary: Temporary;
  let sdk: Sdk;

  beforeAll(async () => {
    sim = await startSim();
    temporary = await openTemporaryGateway(
      simConfig(sim.url, [leaving, tooLong, failing, breaking]),
    );
    sdk = open(temporary.gateway.url, temporary.key);
  });
  afterAll(async () => {
    await temporary.close();
    await sim.close();
  });

  describe.each(asked)('$vendor: $id', (model) => {
    test.each(columns)('$name', async ({ needs, works }) => {
      const ask: Cell['ask'] = (question) =>
        sdk.ask({ model: model.id, prompt: hello, ...question });
      const expectDone: Cell['expectDone'] = ({ finish, input, output }) => {
        expect({ finish, counted: input > 0 && output > 0 }).toEqual({
          finish: sdk.finishes.stop,
          counted: true,
        });
      };
      const cell: Cell = { sdk, model, sim, ask, expectDone };
      const needed = needs === undefined ? [] : typeof needs === 'string' ? [needs] : needs(sdk);
      if (needed.every((skill) => model.skills.has(skill))) return works(cell);
      return expect(statusOf(await failure(works(cell)))).toBe(400);
    });
  });

  test('a stranger is refused, and so is a model that nobody has', async () => {
    const stranger = open(temporary.gateway.url, `sk-${'x'.repeat(48)}`);
    expect(statusOf(await failure(stranger.ask({ model: 'gpt-4o-mini', prompt: hello })))).toBe(
      sdk.strangerStatus ?? 401,
    );
    expect(statusOf(await failure(sdk.ask({ model: 'no-such-model', prompt: hello })))).toBe(404);
    const poor = open(temporary.gateway.url, await temporary.poorKey());
    expect(statusOf(await failure(poor.ask({ model: 'gpt-4o-mini', prompt: hello })))).toBe(429);
  });

  test('after all that the books are right', () => temporary.expectBooks());
}

async function sayTheSame({ ask, expectDone }: Cell): Promise<void> {
  const pieces: string[] = [];
  const whole = await ask({});
  expectDone(whole);
  expect(whole.text).toContain(hello);
  const streamed = await ask({ stream: true, hear: (piece) => pieces.push(piece) });
  expectDone(streamed);
  expect(streamed.text).toBe(whole.text);
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.join('')).toBe(whole.text);
}

async function callTools(
  { sdk, ask, expectDone }: Cell,
  prompt: string,
  calls: Told['calls'],
  stream: boolean,
): Promise<void> {
  const told = await ask({ prompt, tools: true, stream });
  expect(told.calls).toEqual(calls);
  expect(told.finish).toBe(sdk.finishes.tools);
  const answered = await told.reply(calls.map((_call, i) => `It is 2${i + 1} degrees there.`));
  expectDone(answered);
  expect(answered.text).toContain(`2${calls.length} degrees`);
}

async function see({ ask }: Cell): Promise<void> {
  expect((await ask({ prompt: 'What is in this image?', image: true })).text).toContain('1×1');
}

async function followSchema({ ask }: Cell): Promise<void> {
  const prompt = 'Our guest is Ada Lovelace, 36 years old. Answer in JSON.';
  for (const stream of [false, true])
    expect(JSON.parse((await ask({ prompt, schema: true, stream })).text)).toEqual({
      name: 'Ada Lovelace',
      age: 36,
    });
}

async function think({ sdk, model, ask, expectDone }: Cell): Promise<void> {
  const tells = model.skills.has('thinks') || (sdk.asksForSummaries && model.skills.has('sums-up'));
  for (const stream of [false, true]) {
    const told = await ask({ think: true, stream });
    expectDone(told);
    expect(told.text).toContain(hello);
    expect(told.reasoning !== '').toBe(sdk.hearsThoughts && tells);
  }
}

async function leave({ model, sim, ask }: Cell): Promise<void> {
  const left = new AbortController();
  sim.clear();
  const answer = ask({
    model: `${model.id}+${leaving}`,
    stream: true,
    signal: left.signal,
    hear: () => left.abort(),
  });
  await failure(answer);
  await expect
    .poll(() => sim.requests.map((request) => request.left), { timeout: 1_000, interval: 20 })
    .toEqual([true]);
}

async function refuseLong({ model, ask }: Cell): Promise<void> {
  for (const stream of [false, true])
    expect(statusOf(await failure(ask({ model: `${model.id}+${tooLong}`, stream })))).toBe(400);
}

async function failAndBreak({ model, ask }: Cell): Promise<void> {
  expect(statusOf(await failure(ask({ model: `${model.id}+${failing}` })))).toBeGreaterThanOrEqual(
    500,
  );
  let heard = '';
  await failure(
    ask({ model: `${model.id}+${breaking}`, stream: true, hear: (piece) => (heard += piece) }),
  );
  // A reasoning model may break off before its first text.
  if (!model.skills.has('thinks')) expect(heard).not.toBe('');
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  const ended = await promise.catch((error: unknown) => error);
  if (ended instanceof Error) return ended;
  throw new Error(`it succeeded, or failed without an error: ${JSON.stringify(ended)}`);
}

/** Packages wrap the answer's status in errors of their own. */
function statusOf(error: Error): number {
  for (const name of ['status', 'statusCode']) {
    const status: unknown = Reflect.get(error, name);
    if (typeof status === 'number') return status;
  }
  if (error.cause instanceof Error) return statusOf(error.cause);
  throw error;
}
