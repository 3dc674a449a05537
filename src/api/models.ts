import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { Model, Snapshot } from '../catalog/snapshot.ts';
import { offerTo } from '../gateway/allowed.ts';

function render(model: Model): object {
  const shown = { id: model.id, object: 'model', created: model.created, owned_by: model.ownedBy };
  return model.shutdownDate === undefined ? shown : { ...shown, shutdown_date: model.shutdownDate };
}

/** GET /v1/models: what the key can reach. */
export function listModels(snapshot: Snapshot, { group, models }: Principal): string {
  const reached = snapshot
    .listing(group)
    .filter(({ id }) => models === undefined || models.has(id));
  return JSON.stringify({ object: 'list', data: reached.map(render) });
}

/** GET /v1/models/{id}; ids may contain `/`. */
export function getModel(snapshot: Snapshot, who: Principal, id: string): string {
  const offer = offerTo(snapshot, who, id);
  if (offer === undefined) refuse('model_not_found', { model: id, param: 'model' });
  return JSON.stringify(render(offer.model));
}
