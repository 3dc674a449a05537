import type { Signatures } from '../adapter.ts';
import { withDetails } from './chat-collect.ts';
import { listOf, objectOf, parse, utf8, textOf } from './json.ts';
import { signaturesOf } from './signatures.ts';

/** Members of a delta that may carry what is signed. */
const detailsHead = '"reasoning_details":[';

interface Called {
  readonly id: string;
  readonly name: string;
  /** Inside of a JSON string, in `latin1`. */
  args: string;
  /** Members of the call, in `latin1`. */
  readonly more: string;
}

/**
 * What a streamed turn calls and signs, kept as the text that it was told in and read only at its
 * end.
 */
export class SignedTurn {
  readonly #details: string[] = [];
  readonly #calls: Called[] = [];
  #isSigned = false;

  /** Members of a delta as they are told. */
  delta(members: string): void {
    if (members.startsWith(detailsHead)) this.#details.push(members);
  }

  call(id: string, name: string, argsJson: string, more: string): void {
    this.#isSigned ||= more !== '';
    this.#calls.push({ id, name, args: argsJson.slice(1, -1), more });
  }

  /** A further piece of the arguments of call `index`, as JSON text of a string. */
  arguments(index: number, json: string): void {
    const call = this.#calls[index];
    if (call !== undefined) call.args += json.slice(1, -1);
  }

  signatures(): Signatures | undefined {
    if (this.#calls.length === 0 || (!this.#isSigned && this.#details.length === 0))
      return undefined;
    let details: readonly unknown[] = [];
    for (const members of this.#details)
      details = withDetails(details, listOf(membersOf(members)?.['reasoning_details']));
    const calls = this.#calls.map(({ id, name, args, more }) => ({
      id,
      name,
      arguments: textOf(parse(utf8(`"${args}"`))) ?? '',
      extra: membersOf(more)?.['extra_content'],
    }));
    return signaturesOf(calls, details);
  }
}

const membersOf = (members: string) => objectOf(parse(utf8(`{${members}}`)));
