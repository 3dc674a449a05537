import type { Clock } from '../../base/clock.ts';
import { isObject, parse } from '../../base/json.ts';
import type { Channel } from '../../catalog/snapshot.ts';
import { callControl, postControl } from '../../http/control-call.ts';
import type { Vendor } from '../../providers/vendor.ts';
import { OpenChannels } from './open-channels.ts';

/** Larger lists are cut: OpenRouter's, the longest known, has some 400 models (2026-11). */
const modelsMax = 2_000;
const listBytesMax = 16 * 1024 * 1024;
const listTimeoutMs = 20_000;
const idCharsMax = 200;

/**
 * Why a vendor gave no list. `key`: it refuses the key. `address`: nothing is there. `silence`: no
 * answer in time, or no connection. `not_a_list`: an answer that names no models.
 */
export type ListFailure = 'key' | 'address' | 'silence' | 'not_a_list' | 'refused';

/** The vendor's own ids, in its order, each once. */
export type VendorModels =
  | { readonly ids: readonly string[] }
  | { readonly failure: ListFailure; readonly status: number | undefined };

/**
 * Asks a channel's vendor for its list of models, with the channel's key. Free of charge. The
 * channel need not be stored.
 */
export async function listVendorModels(
  vendors: ReadonlyMap<string, Vendor>,
  clock: Clock,
  channel: Channel,
): Promise<VendorModels> {
  const openChannels = new OpenChannels(vendors, { now: () => clock.now(), post: postControl });
  try {
    const openChannel = openChannels.of(channel);
    const { path, headers: needed }: NonNullable<Vendor['models']> =
      vendors.get(channel.vendor)?.models ?? usual;
    const url = openChannel.upstream.urlOf(path);
    const headers = { accept: 'application/json', ...needed, ...openChannel.sign };
    const none = Buffer.alloc(0);
    const proof = await openChannel.authorize?.({ method: 'GET', url, headers, body: none });
    if (proof !== undefined && 'kind' in proof) return failed('key');
    const reply = await callControl(url, {
      method: 'GET',
      headers: { ...headers, ...proof?.headers },
      bytesMax: listBytesMax,
      timeoutMs: listTimeoutMs,
    });
    if (reply.status < 200 || reply.status > 299)
      return failed(failureOf(reply.status), reply.status);
    const ids = idsIn(parse(reply.bytes.toString('utf8')));
    return ids.length === 0 ? failed('not_a_list', reply.status) : { ids };
  } catch {
    return failed('silence');
  } finally {
    void openChannels.close();
  }
}

const usual = { path: '/models' };

const failed = (failure: ListFailure, status?: number): VendorModels => ({ failure, status });

function failureOf(status: number): ListFailure {
  if (status === 401 || status === 403) return 'key';
  return status === 404 || status === 405 ? 'address' : 'refused';
}

/** `{data: [{id}]}`, `{models: [{name}]}` or a bare list, as vendors write it. */
function idsIn(body: unknown): readonly string[] {
  const list: unknown = isObject(body) ? (body['data'] ?? body['models']) : body;
  if (!Array.isArray(list)) return [];
  const ids = list.flatMap((model: unknown) => {
    const id: unknown = isObject(model) ? (model['id'] ?? model['name']) : model;
    const isId = typeof id === 'string' && id !== '' && id.length <= idCharsMax;
    return isId && !/\s/.test(id) ? [id.replace(/^models\//, '')] : [];
  });
  return [...new Set(ids)].slice(0, modelsMax);
}
