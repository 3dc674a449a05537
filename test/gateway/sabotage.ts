import type { Reservation } from '../../src/ledger/contract.ts';
import type { Fault } from '../../src/base/fault.ts';
import { type OpenChannel, OpenChannels } from '../../src/gateway/channels/open-channels.ts';
import { vendors } from '../../src/providers/index.ts';
import type { Channel } from '../../src/catalog/snapshot.ts';
import type { Tamper } from './simulated-node.ts';

/** A rule of the pipeline taken away. The histories must notice. */
export interface Sabotage {
  readonly rule: string;
  readonly tamper: Tamper;
  /** What must be missed, where another promise might be broken with it. */
  readonly missed?: RegExp;
}

type Change = (reservation: Reservation) => Partial<Reservation>;

/** Every reservation of the till, changed. */
const reserving =
  (change: Change): Tamper =>
  (parts) => {
    const { till } = parts;
    const changed = (real: Reservation): Reservation => ({
      get amount() {
        return real.amount;
      },
      extend: (more) => real.extend(more),
      extendOrWait: (more, minimum, waitMs) => real.extendOrWait(more, minimum, waitMs),
      settle: (charge) => real.settle(charge),
      release: () => real.release(),
      ...change(real),
    });
    return {
      ...parts,
      till: {
        get admitting() {
          return till.admitting;
        },
        tryReserve(ask) {
          const got = till.tryReserve(ask);
          return got && changed(got);
        },
        async reserve(ask, signal) {
          const got = await till.reserve(ask, signal);
          return typeof got === 'string' ? got : changed(got);
        },
        close: () => till.close(),
      },
    };
  };

/** Every open channel, changed. */
const along =
  (change: (openChannel: OpenChannel) => Partial<OpenChannel>): Tamper =>
  (parts) => {
    const real = parts.openChannels;
    class Changed extends OpenChannels {
      override of(channel: Channel): OpenChannel {
        const openChannel = real.of(channel);
        return { ...openChannel, ...change(openChannel) };
      }
    }
    return {
      ...parts,
      openChannels: new Changed(vendors, {
        now: () => 0,
        post: () => Promise.reject(new Error('nobody is asked')),
      }),
    };
  };

/** What the adapter makes of a vendor's no. */
const faulting = (fault: (status: number, right: Fault) => Fault): Tamper =>
  along((openChannel) => ({
    adapter(capability) {
      const adapter = openChannel.adapter(capability);
      return (
        adapter && {
          ...adapter,
          fault: (status, headers, text) => fault(status, adapter.fault(status, headers, text)),
        }
      );
    },
  }));

/** Whatever ends a call, its vendor does not hear of it. */
const deaf = along(({ upstream }) => {
  const send: typeof upstream.send = (ask, times, call) => {
    Object.defineProperty(call, 'abort', { value: () => {} });
    upstream.send(ask, times, call);
  };
  return { upstream: Object.assign(Object.create(upstream), { send, prefix: upstream.prefix }) };
});

export const sabotages: readonly Sabotage[] = [
  {
    rule: 'the last byte waits for the commit',
    tamper: reserving((real) => ({
      settle(charge) {
        void real.settle(charge);
        return Promise.resolve({ outcome: 'paid', amount: charge.cost, shortfall: 0n });
      },
    })),
  },
  {
    rule: 'what was given is charged',
    tamper: reserving(() => ({
      settle: ({ cost }) => Promise.resolve({ outcome: 'paid', amount: cost, shortfall: 0n }),
    })),
  },
  {
    rule: 'what was not given is withheld',
    tamper: reserving((real) => ({ settle: ({ withheld: _, ...charge }) => real.settle(charge) })),
  },
  {
    rule: 'a charge is what the vendor counted',
    tamper: reserving((real) => ({
      settle: (charge) => real.settle({ ...charge, cost: charge.cost + 1n }),
    })),
  },
  { rule: 'a reservation ends', tamper: reserving(() => ({ release: () => {} })) },
  {
    rule: 'a vendor’s refusal of our key is not the client’s',
    tamper: faulting((status, right) =>
      status === 401 ? { ...right, kind: 'bad_request' } : right,
    ),
  },
  {
    rule: 'a vendor stops when its client has left',
    missed: /its client left/,
    tamper: deaf,
  },
  {
    rule: 'of two that are asked the slower is broken off',
    missed: /another call has answered/,
    tamper: deaf,
  },
  {
    rule: 'a place among those that run is given back',
    tamper: (parts) => ({
      ...parts,
      limiter: {
        enter: (...asked) => {
          const entered = parts.limiter.enter(...asked);
          return 'limitOf' in entered
            ? entered
            : Object.assign(Object.create(entered), { finish: () => {} });
        },
      },
    }),
  },
];
