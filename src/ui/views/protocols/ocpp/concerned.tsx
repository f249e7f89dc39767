import { useOverview } from '../../../store/site';

/** Stations that are named each. */
const maxNamed = 8;

/** The charging stations that the settings of OCPP are for: all of the simulator. */
export function Concerned() {
  const devices = useOverview()?.devices;
  if (devices === undefined) return null;
  const names = devices.flatMap(({ name, charge_point_id: id }) => (id === null ? [] : [`${name} (${id})`]));
  if (names.length === 0) return <p class="muted">This simulator has no charging station yet.</p>;
  const more = names.length - maxNamed;
  return (
    <p class="muted" data-test="concerned">
      For {names.length === 1 ? 'the charging station' : `all ${names.length} charging stations`}:{' '}
      {names.slice(0, maxNamed).join(', ')}
      {more > 0 && ` and ${more} more`}.
    </p>
  );
}
