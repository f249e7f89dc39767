/** The devices of a large site: map or table, with colour, groups and filter in the address. */
import type { ComponentChildren } from 'preact';
import { Segments } from '../../../kit/segments';
import { get } from '../../../api/call';
import { useFigures } from '../../../store/figures';
import { useLive } from '../../../store/live';
import { useLocalDevices } from '../../../store/attention';
import { go, param, setParam } from '../../../store/route';
import type { DeviceEntry } from '../../../store/site';
import { figuresOf, isFleet } from '../../../store/stream';
import { conditionOf } from '../condition';
import { ColumnMenu } from '../device-columns';
import { DeviceTable } from '../device-table';
import { filtered } from './filter';
import { colours, groupings, groupsOf, ownerLook, ownersOf, scaleEnds } from './groups';
import type { Colour } from './groups';
import { HeatMap } from './heat-map';

/** A setting of the address; the first option is the default. */
function choiceOf<K extends string>(name: string, options: Readonly<Record<K, string>>): K {
  const keys = Object.keys(options) as K[];
  return keys.find((key) => key === param(name)) ?? (keys[0] as K);
}

const optionsOf = <K extends string>(options: Readonly<Record<K, string>>) => Object.entries(options) as [K, string][];

/** The filter of the view; Enter opens the first hit. */
export function DeviceFilter({ first }: { readonly first: number | undefined }) {
  return (
    <input
      type="search"
      class="device-filter"
      aria-label="Filter devices"
      placeholder="Filter devices"
      title="A name, a kind, a range such as 20-35, a state such as :tripped, :limited, :alarms"
      value={param('filter') ?? ''}
      onInput={(event) => setParam('filter', event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && first !== undefined) go(`devices/${first}/picture`);
      }}
    />
  );
}

function Legend({ colour, owners }: { readonly colour: Colour; readonly owners: readonly string[] }) {
  return (
    <div class="map-legend">
      <span>
        <i class="cell limited" />
        limited
      </span>
      <span>
        <i class="cell tripped">×</i>
        tripped or fault
      </span>
      <span>
        <i class="cell idle" />
        idle, no vehicle
      </span>
      <span>
        <i class="cell local" />
        local control
      </span>
      {colour === 'owner' &&
        owners.map((owner) => {
          const [letter, look] = ownerLook(owner, owners);
          return (
            <span key={owner}>
              <i class={`cell ${look}`}>{letter}</i>
              {owner}
            </span>
          );
        })}
      <span class="keys">Arrow keys move, Enter opens</span>
    </div>
  );
}

function Scale({ colour }: { readonly colour: Colour }) {
  if (colour === 'owner') return null;
  const [from, to] = scaleEnds[colour];
  return (
    <span class="map-scale muted">
      {from}
      <i />
      {to}
    </span>
  );
}

/** @param tools at the end of the head */
export function DeviceMap({
  devices,
  tools,
}: {
  readonly devices: readonly DeviceEntry[];
  readonly tools?: ComponentChildren;
}) {
  useFigures();
  const colour = choiceOf('colour', colours);
  const grouping = choiceOf('group', groupings);
  const isTable = param('form') === 'table';
  const scopes = useLive(grouping === 'feeder' ? get('site/scopes') : null, 'change').data?.scopes ?? [];
  const local = useLocalDevices();
  const all = devices.map((device) => conditionOf(device, figuresOf(device.device_index)));
  const hits = filtered(all, param('filter') ?? '');
  const isFiltered = hits.length < all.length;
  return (
    <section class="panel device-map" aria-label="Devices">
      <header>
        <h2>{isFiltered ? `${hits.length} of ${all.length} devices` : `${all.length} devices`}</h2>
        {!isTable && (
          <>
            <Segments
              label="Colour by"
              options={optionsOf(colours)}
              value={colour}
              onChoice={(next) => setParam('colour', next)}
            />
            <Segments
              label="Group by"
              options={optionsOf(groupings)}
              value={grouping}
              onChoice={(next) => setParam('group', next)}
            />
            <Scale colour={colour} />
          </>
        )}
        <DeviceFilter first={hits[0]?.device.device_index} />
        {isTable && <ColumnMenu isFleet={isFleet(all.length)} />}
        <button
          type="button"
          class="small"
          aria-pressed={isTable}
          onClick={() => setParam('form', isTable ? null : 'table')}
        >
          Table
        </button>
        {tools}
      </header>
      {isFiltered && <p class="map-note muted">Sums are of the devices that the filter picks.</p>}
      {isTable ? (
        <DeviceTable conditions={hits} count={all.length} heightPx={520} />
      ) : (
        <>
          <HeatMap
            groups={groupsOf(hits, grouping, scopes)}
            colour={colour}
            local={new Set(local)}
            onOpen={(index) => go(`devices/${index}/picture`)}
          />
          {hits.length === 0 && <p class="empty">No device matches the filter.</p>}
          <Legend colour={colour} owners={ownersOf(all)} />
        </>
      )}
    </section>
  );
}
