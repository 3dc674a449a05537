import { refuse } from '../base/refusal.ts';
import type { Model, Snapshot } from '../catalog/snapshot.ts';

function render(model: Model): object {
  const shown = { id: model.id, object: 'model', created: model.created, owned_by: model.ownedBy };
  return model.shutdownDate === undefined ? shown : { ...shown, shutdown_date: model.shutdownDate };
}

/** GET /v1/models: what the key's group can reach. */
export function listModels(snapshot: Snapshot, group: string): string {
  return JSON.stringify({ object: 'list', data: snapshot.listing(group).map(render) });
}

/** GET /v1/models/{id}; ids may contain `/`. */
export function getModel(snapshot: Snapshot, group: string, id: string): string {
  const offer = snapshot.offer(group, id);
  if (offer === undefined) refuse('model_not_found', { model: id, param: 'model' });
  return JSON.stringify(render(offer.model));
}
