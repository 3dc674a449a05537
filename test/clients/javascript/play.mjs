// The tries of every JavaScript library; each prints its result as one line of JSON.
import assert from 'node:assert/strict';
import { z } from 'zod';

export const url = process.env.TOLLGATE_URL;
export const baseURL = `${url}/v1`;
export const apiKey = process.env.TOLLGATE_API_KEY;

export const question = 'What is the weather in Paris?';
export const weather = '21 degrees and clear';
export const name = 'My name is Ada.';
export const who = 'What is my name?';
export const secondTurn = 'turn 2 of our conversation';
export const person = 'We met Ada, who is 36 years old.';
export const Person = z.object({ name: z.string(), age: z.number().int() });
export const City = z.object({ city: z.string() });

/** A picture of three by two points, and what a model says of it. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYPgPRgwQCgAd7gP9N/RE0AAAAABJRU5ErkJggg==';
export const what = 'What do you see?';
export const seen = '3×2 pixels';
/** The models that see no pictures. */
const blind = new Set(process.env.BLIND.split(','));
/** A model whose stream fails after three pieces. */
export const failing = 'sim-error-in-stream';

export function getWeather({ city }) {
  assert.equal(city, 'Paris');
  return weather;
}

export function expectWords(words, said) {
  assert.ok(said.includes(words), `${JSON.stringify(words)} is not in ${JSON.stringify(said)}`);
}

export function expectAda(value) {
  assert.deepEqual({ ...value }, { name: 'Ada', age: 36 });
}

/** A model that sees pictures says what it sees; another one refuses with status 400. */
export async function expectSight(model, ask) {
  if (blind.has(model)) await expectRefused(400, ask);
  else expectWords(seen, await ask());
}

export async function expectRefused(status, ask) {
  let error;
  try {
    await ask();
  } catch (problem) {
    error = problem;
  }
  assert.ok(error !== undefined, `no refusal with ${status}`);
  const told = error.status ?? error.statusCode;
  assert.equal(told, status, `${told} instead of ${status}: ${error.message}`);
  return error;
}

/** The stream of the model `failing` begins, and ends with an error. */
export async function expectBroken(stream) {
  let pieces = 0;
  try {
    for await (const piece of await stream) if (piece !== undefined) pieces += 1;
  } catch (problem) {
    assert.ok(pieces > 0, `an error before the stream: ${problem?.message}`);
    return;
  }
  assert.fail(`no error after ${pieces} pieces`);
}

/** What a try returns when the package itself has no such thing for this model. */
export const notOffered = Symbol('not offered');

/** `doors`: makes a model of each format; `features`: the tries. */
export async function play(doors, features) {
  for (const model of process.env.MODELS.split(',')) {
    for (const [door, modelOf] of Object.entries(doors)) {
      for (const [feature, attempt] of Object.entries(features)) {
        let error = null;
        try {
          if ((await attempt(modelOf(model), model, modelOf)) === notOffered) continue;
        } catch (problem) {
          error = `${problem?.name}: ${problem?.message}`.slice(0, 1500);
          console.error(problem);
        }
        console.log(JSON.stringify({ door, feature, model, error }));
      }
    }
  }
}
