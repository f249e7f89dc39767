import { get, post } from '../../../api/call';
import { useRef } from 'preact/hooks';
import { useDo } from '../../../kit/action';
import { Facts, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import type { Axis, Mark, Point } from '../../../kit/plot';
import { fixed, show } from '../../../look/format';
import { useLive } from '../../../store/live';
import type { PageProps } from './curve-page';
import { draftKey, useKept, DraftButtons, NumberCell } from './points';
import type { Settings } from './functions';
import { memberLabel } from './functions';
import { liveMarks, useReference, useTrail, widened } from './live-point';
import {
  registerOfMember,
  adoptionIssue,
  MissingSet,
  registerOf,
  SetsPanel,
  stageCall,
  storedSet,
  useSets,
} from './sets';
import type { SetEntry, Sets } from './sets';
import { SetValues } from './values-form';

/** Members of a droop, in the order of the handles. */
const members = ['db_uf_hz', 'db_of_hz', 'k_uf', 'k_of'] as const;
type Droop = Readonly<Record<(typeof members)[number], number>>;

function droopOf(settings: Settings): Droop {
  return Object.fromEntries(members.map((name) => [name, Number(settings[name])])) as unknown as Droop;
}

/** Change of power, %, at the handle of a slope. */
const slopeAt = 50;

/** Change of power over frequency. @param percent of WMax */
function lineOf({ db_uf_hz: dbUf, db_of_hz: dbOf, k_uf: kUf, k_of: kOf }: Droop, nominal: number, percent = 100) {
  const share = (nominal * percent) / 100;
  return [
    [nominal - dbUf - share * kUf, percent],
    [nominal - dbUf, 0],
    [nominal + dbOf, 0],
    [nominal + dbOf + share * kOf, -percent],
  ] as const satisfies readonly Point[];
}

/**
 * The base power of the droop, kW: inside the dead band the present power; outside, derived from the target of the
 * droop in force. Null: the target is at a limit.
 */
function originOf(present: NonNullable<PageProps['now']>, settings: Settings, nominal: number, wMaxKw: number) {
  const { frequency_hz: hz, active_power_kw: power, available_kw: available } = present;
  const { target } = present.functions.freq_droop;
  if (target === null || hz === null) return power;
  const { db_uf_hz: dbUf, db_of_hz: dbOf, k_uf: kUf, k_of: kOf } = droopOf(settings);
  const over = hz - nominal - dbOf;
  const under = nominal - hz - dbUf;
  if (over > 1e-9) {
    const isCut = Math.abs(target - (Number(settings['p_min_pct']) / 100) * wMaxKw) < 1e-3;
    return isCut ? null : target + (over / (nominal * kOf)) * wMaxKw;
  }
  if (under > 1e-9) {
    const isCut = target >= Math.min(available ?? wMaxKw, wMaxKw) - 1e-3;
    return isCut ? null : target - (under / (nominal * kUf)) * wMaxKw;
  }
  return target;
}

/** Frequency, and change of power in % of WMax. null: unknown. */
function useOperatingPoint({ device, settings, now }: PageProps, nominal: number): Point | null {
  const wMaxKw = useReference(device)('w_max_pct', false);
  const origin = useRef<number | null>(null);
  if (!now || wMaxKw === null || now.frequency_hz === null || now.active_power_kw === null) return null;
  // a target at a limit does not show the base power: the previous one applies
  origin.current = originOf(now, settings, nominal, wMaxKw) ?? origin.current;
  if (origin.current === null) return null;
  return [now.frequency_hz, ((now.active_power_kw - origin.current) / wMaxKw) * 100];
}

/** Frequency droop as change of power over frequency, with handles for dead band and slopes. */
export function DroopPage(props: PageProps) {
  const { device, entry, now } = props;
  const nominal = useLive(get('grid-support/regions', { query: { device } }), 'once').data?.nominal_hz ?? 60;
  const { sets, lack } = useSets(device, entry.name);
  const at = useOperatingPoint(props, nominal);
  const trail = useTrail(at, now?.t_s);
  if (lack !== null) return <MissingSet device={device} entry={entry} sets={sets} lack={lack} />;
  const number = storedSet(sets)?.number ?? 1;
  return <DroopEditor key={number} {...props} nominal={nominal} sets={sets} at={at} trail={trail} />;
}

type EditorProps = PageProps & {
  readonly nominal: number;
  readonly sets: Sets | undefined;
  readonly at: Point | null;
  readonly trail: readonly Point[];
};

/** The four values of a set as a draft until applied. */
function useDroopDraft({ device, entry, settings, nominal }: EditorProps, set: SetEntry | null) {
  const [draft, setDraft, endDraft] = useKept<Droop>(draftKey(device, entry.name, set?.number ?? 1, 'droop'));
  const { busy, problem, run, forget } = useDo();
  const present = droopOf(set ?? settings);
  const value = draft ?? present;
  const call =
    set === null
      ? post('grid-support/freq-droop', { query: { device }, body: { ...value } })
      : stageCall(
          device,
          entry,
          set,
          Object.fromEntries(members.map((name) => [registerOfMember(name) ?? name, value[name]])),
        );
  const issueOf = (name: keyof Droop): string | null => {
    if (set === null) return problem?.about(`/${name}`) ?? null;
    const register = registerOf(entry, set, registerOfMember(name) ?? '');
    return problem?.about(`/points/${register}`) ?? (draft === null ? adoptionIssue(entry, set, register) : null);
  };
  const change = (name: keyof Droop, next: number) => {
    setDraft({ ...value, [name]: Number(next.toFixed(3)) });
    forget();
  };
  return {
    value,
    present,
    isChanged: draft !== null,
    set,
    call,
    busy,
    problem,
    onApplied: endDraft,
    issueOf,
    change,
    move: (index: number, [x]: Point) => {
      const name = members[index] ?? 'db_of_hz';
      const hz = Math.abs(x - nominal);
      const slope = (nominal * slopeAt) / 100;
      const band = index === 2 ? value.db_uf_hz : value.db_of_hz;
      change(name, index < 2 ? hz : Math.max(0.001, (hz - band) / slope));
    },
    discard: () => {
      setDraft(null);
      forget();
    },
    apply: () => {
      void run(call).then((answer) => {
        if (answer !== undefined) endDraft();
      });
    },
  };
}

type DroopDraft = ReturnType<typeof useDroopDraft>;

/** The droops of all sets, level where the change reaches 100 %, and the operating point. */
function droopMarks({ settings, nominal, sets, at, trail }: EditorProps, draft: DroopDraft, x: Axis, y: Axis) {
  const { set } = draft;
  const line = (droop: Droop, title: string, isStored: boolean, colour = 'var(--off)'): Mark => {
    const points = lineOf(droop, nominal);
    return {
      kind: 'line',
      points: [[Math.min(x.min, points[0][0]), 100], ...points, [Math.max(x.max, points[3][0]), -100]],
      colour,
      dashed: isStored,
      width: colour === 'var(--off)' ? 1.5 : 2,
      title,
    };
  };
  const others = sets?.sets.filter(({ number }) => number !== (set?.number ?? 1)) ?? [];
  const name = `Set ${set?.number ?? 1}`;
  return [
    ...others.map((other) => line(droopOf(other.in_force ? settings : other), `Set ${other.number}`, !other.in_force)),
    ...(draft.isChanged ? [line(draft.present, `${name} without the draft`, set !== null)] : []),
    line(draft.value, draft.isChanged ? `${name}, not applied yet` : name, set !== null, 'var(--p)'),
    ...liveMarks(at, trail, x, y),
  ];
}

function DroopEditor(props: EditorProps) {
  const { device, entry, settings, now, nominal, sets, at } = props;
  const set = storedSet(sets);
  const draft = useDroopDraft(props, set);
  const present = at === null ? [] : [at[0]];
  const x = widened({ label: 'Frequency', unit: 'Hz', min: nominal - 4, max: nominal + 4 }, present);
  const y = { label: 'Change of power', unit: '% of WMax', min: -100, max: 100 };
  const [, low, high] = lineOf(draft.value, nominal);
  const [lowSlope, , , highSlope] = lineOf(draft.value, nominal, slopeAt);
  const step = now?.functions.freq_droop;
  return (
    <>
      <Panel title={`Frequency droop${set === null ? '' : `, set ${set.number}`}`}>
        <div class="curve">
          <Plot
            label="Frequency droop"
            x={x}
            y={y}
            marks={droopMarks(props, draft, x, y)}
            handles={[low, high, lowSlope, highSlope].map((point, index) => {
              const name = members[index] ?? 'db_of_hz';
              return {
                at: point,
                label: `${memberLabel(name)}: ${fixed(draft.value[name], 3)}`,
                issue: draft.issueOf(name),
              };
            })}
            onMove={draft.move}
            step={[0.01, 1]}
          >
            Change from the power at which the frequency left the dead band. Solid: set 1, in force. Dashed: stored
            sets. In colour: the set that is edited. Filled dot: now, with the last minute.
          </Plot>
          <DroopValues draft={draft} device={device} />
        </div>
        <Facts
          rows={[
            ['Now', `${show(now?.frequency_hz, 'frequency')}, ${show(now?.active_power_kw, 'activePower')}`],
            ['Input', show(step?.input, 'frequency')],
            ['Target', show(step?.target, 'activePower')],
            ['Output', show(step?.output, 'activePower')],
          ]}
        />
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} />
      <SetValues device={device} entry={entry} settings={settings} set={set} />
    </>
  );
}

/** The four values as numbers, and the buttons of the draft. */
function DroopValues({ draft, device }: { readonly draft: DroopDraft; readonly device: number }) {
  return (
    <>
      <table aria-label="Droop">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {members.map((name) => {
            const label = memberLabel(name);
            return (
              <tr key={name}>
                <td>{label}</td>
                <td>
                  <NumberCell
                    label={label}
                    value={draft.value[name]}
                    issue={draft.issueOf(name)}
                    onValue={(value) => draft.change(name, value)}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <DraftButtons draft={draft} device={device} apply="Apply droop" stage="Stage droop" />
    </>
  );
}
