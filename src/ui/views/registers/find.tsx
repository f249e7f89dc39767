import { href } from '../../store/route';
import { useLive } from '../../store/live';
import { pointsCall } from './calls';
import type { Model, Owner } from './calls';
import { valueText } from './point-text';

interface FindProps {
  readonly owner: Owner;
  readonly models: readonly Model[];
  readonly text: string;
}

const maxHits = 30;

/** Points of all models whose name or label has a text. */
export function Find({ owner, models, text }: FindProps) {
  return (
    <ul class="hits" aria-label="Points found">
      {models.map((model) => (
        <ModelHits key={model.id} owner={owner} model={model} text={text.toLowerCase()} />
      ))}
    </ul>
  );
}

function ModelHits({ owner, model, text }: { readonly owner: Owner; readonly model: Model; readonly text: string }) {
  const points = useLive(pointsCall(owner, model.id), 'once').data?.points ?? [];
  const hits = points.filter(({ name, label }) => `${model.id}.${name} ${label}`.toLowerCase().includes(text));
  return (
    <>
      {hits.slice(0, maxHits).map((point) => (
        <li key={point.name}>
          <a
            href={href('registers', {
              model: model.id,
              point: point.name,
              of: owner === 'site' ? 'site' : null,
            })}
          >
            {model.id}.{point.name}
          </a>{' '}
          <span class="muted">{point.label}</span> {valueText(point)}
        </li>
      ))}
    </>
  );
}
