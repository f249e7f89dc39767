import { setParam } from '../../store/route';
import type { Registers } from './calls';

/** All registers of a model in hexadecimal, with those of the chosen point marked. */
export function Strip({ model, chosen }: { readonly model: Registers; readonly chosen: string | null }) {
  const cells = model.points.flatMap((point) =>
    (point.raw ?? []).map((register, offset) => ({ point, register, address: point.address + offset })),
  );
  return (
    <div class="strip mono" role="group" aria-label={`Registers of model ${model.id} in hexadecimal`}>
      {cells.map(({ point, register, address }) => (
        <button
          key={address}
          type="button"
          title={`${address}: ${point.name}`}
          aria-label={`Register ${address}, ${point.name}: ${register.toString(16).padStart(4, '0')}`}
          aria-pressed={point.name === chosen}
          onClick={() => setParam('point', point.name)}
        >
          {register.toString(16).padStart(4, '0')}
        </button>
      ))}
    </div>
  );
}
