import type { IncomingMessage, ServerResponse } from 'node:http';
import { SimGithub } from './github.ts';
import { SimWechat } from './wechat.ts';

/** The simulated identity providers. */
export class SimSignin {
  readonly #github: SimGithub;
  readonly #wechat: SimWechat;

  /** `now`: wall clock, ms. */
  constructor(now: () => number) {
    this.#github = new SimGithub(now);
    this.#wechat = new SimWechat(now);
  }

  /** False when the address belongs to no provider. */
  answer(incoming: IncomingMessage, response: ServerResponse, body: Buffer): boolean {
    const url = new URL(incoming.url ?? '/', 'http://sim.invalid');
    if (url.pathname.startsWith('/github/')) this.#github.answer(incoming, response, url, body);
    else if (url.pathname.startsWith('/weixin/'))
      this.#wechat.answer(incoming, response, url, body);
    else return false;
    return true;
  }
}
