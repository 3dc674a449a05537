import type { FastifyInstance } from 'fastify';
import { noticePath } from './notice-path.ts';
import type { Payments } from './payments.ts';

/** No wallet's notification is as large. */
const bodyBytesMax = 64 * 1024;

/** Where wallets tell us. `bug`: what they are told nothing about; they tell it again. */
export function openNotices(
  server: FastifyInstance,
  payments: Payments,
  bug: (error: unknown) => void,
): void {
  for (const { wallet } of payments.offers) {
    server.post(noticePath(wallet), { bodyLimit: bodyBytesMax }, async (request, reply) => {
      try {
        const answer = await payments.notice(
          wallet,
          request.headers,
          Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        );
        return await reply
          .code(answer.status)
          .type(answer.type)
          .send(answer.body === '' ? undefined : answer.body);
      } catch (error) {
        bug(error);
        return reply.code(500).type('text/plain').send('fail');
      }
    });
  }
}
