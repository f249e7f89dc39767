import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import { Curl, Refused, useDo } from '../../kit/action';
import { Chip, Facts, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Point } from '../../kit/plot';
import { digits, show } from '../../look/format';
import { useLive } from '../../store/live';
import { useSets } from './curve-page';
import type { PageProps } from './curve-page';
import { SetsPanel } from './sets';
import { ValuesForm } from './values-form';

const members = ['db_uf_hz', 'db_of_hz', 'k_uf', 'k_of'] as const;
type Droop = Readonly<Record<(typeof members)[number], number>>;

/** Change of power, %, at which the slope is taken hold of. */
const slopeAt = 50;

/** Frequency droop as the change of power over frequency; edges of the dead band and slopes can be moved. */
export function DroopPage(props: PageProps) {
  return <DroopEditor {...props} key={props.device} />;
}

function DroopEditor({ device, entry, settings, now }: PageProps) {
  const [draft, setDraft] = useState<Droop | null>(null);
  const { busy, problem, run } = useDo();
  const nominal = useLive(get('grid-support/regions', { query: { device } }), 'once').data?.nominal_hz ?? 60;
  const sets = useSets(device, entry.name);
  const live = Object.fromEntries(members.map((name) => [name, Number(settings[name])])) as unknown as Droop;
  const value = draft ?? live;
  const { db_uf_hz: dbUf, db_of_hz: dbOf, k_uf: kUf, k_of: kOf } = value;
  const low = nominal - dbUf;
  const high = nominal + dbOf;
  const slope = slopeAt / 100;
  const points: readonly Point[] = [
    [low, 0],
    [high, 0],
    [low - nominal * kUf * slope, slopeAt],
    [high + nominal * kOf * slope, -slopeAt],
  ];
  const names = ['Edge of the dead band, low', 'Edge of the dead band, high', 'Slope, low', 'Slope, high'];
  const move = (index: number, [x]: Point) => {
    const hz = Math.abs(x - nominal);
    const name = members[index] ?? 'db_of_hz';
    const band = index === 2 ? dbUf : dbOf;
    const raw = index < 2 ? hz : Math.max(0.001, (hz - band) / (nominal * slope));
    setDraft({ ...value, [name]: Number(raw.toFixed(3)) });
  };
  const call = post('grid-support/freq-droop', { query: { device }, body: { ...value } });
  const step = now?.functions.freq_droop;
  const apply = async () => {
    if ((await run(call)) !== undefined) setDraft(null);
  };
  return (
    <>
      <Panel title="Frequency droop">
        <Plot
          label="Frequency droop"
          x={{ label: 'Frequency', unit: 'Hz', min: nominal - 4, max: nominal + 4 }}
          y={{ label: 'Change of power', unit: '% of WMax', min: -100, max: 100 }}
          marks={[
            {
              kind: 'line',
              colour: 'var(--p)',
              title: draft ? 'Droop, not applied yet' : 'Droop in force',
              points: [
                [low - nominal * kUf, 100],
                [low, 0],
                [high, 0],
                [high + nominal * kOf, -100],
              ],
            },
            ...(now?.frequency_hz == null
              ? []
              : [{ kind: 'rule', x: now.frequency_hz, colour: 'var(--accent)', title: 'Now' } as const]),
          ]}
          handles={points.map((at, index) => ({
            at,
            label: `${names[index] ?? ''}: ${digits(at[0], 3)} Hz`,
            issue: problem?.about(`/${members[index] ?? ''}`) ?? null,
          }))}
          onMove={move}
          step={[0.01, 1]}
        >
          From the power at which the dead band was left. Vertical line: now.
        </Plot>
        <div class="row">
          <button type="button" class="primary" disabled={draft === null || busy} onClick={() => void apply()}>
            Apply droop
          </button>
          <Curl call={call} />
          <button type="button" disabled={draft === null} onClick={() => setDraft(null)}>
            Discard
          </button>
          {draft && <Chip tone="warn">not applied yet</Chip>}
        </div>
        <Refused problem={problem} />
        <Facts
          rows={[
            ['Input', show(step?.input, 'frequency')],
            ['Target', show(step?.target, 'activePower')],
            ['Output', show(step?.output, 'activePower')],
          ]}
        />
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} points={[]} />
      <Panel title="Values">
        <ValuesForm device={device} name={entry.name} settings={settings} />
      </Panel>
    </>
  );
}
