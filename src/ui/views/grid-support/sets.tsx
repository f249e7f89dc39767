import { anyCall } from '../../api/call';
import { Action } from '../../kit/action';
import { Chip, Panel } from '../../kit/panel';
import type { Point } from '../../kit/plot';
import { timeOfDay, words } from '../../look/format';
import type { FunctionEntry } from './functions';

/** One set of a curve model. */
interface CurveSet {
  readonly number: number;
  readonly in_force: boolean;
  readonly adoptable: boolean;
  readonly issue: string | null;
  readonly changed_by: { readonly source: string; readonly changed_at: string | null } | null;
  readonly points?: readonly Readonly<Record<string, number>>[];
}

export interface Sets {
  readonly adopt_request: number;
  readonly adopt_result: string;
  readonly sets: readonly CurveSet[];
}

/** Writes of a curve model that put points into a stored set. */
function stageBody({ curve, model }: FunctionEntry, set: number, points: readonly Point[], part?: string) {
  const prefix = `Crv[${set - 1}].${part ?? ''}`;
  const [x, y] = curve?.registers ?? ['V', 'Var'];
  const written: Record<string, number> = { [`${prefix}ActPt`]: points.length };
  points.forEach((point, index) => {
    written[`${prefix}Pt[${index}].${x}`] = point[0];
    written[`${prefix}Pt[${index}].${y}`] = point[1];
  });
  return { model, body: { points: written } };
}

interface SetsPanelProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly sets: Sets | undefined;
  readonly points: readonly Point[];
  /** prefix of the curve in the registers of a trip model, such as `MustTrip.` */
  readonly part?: string;
}

/** Stored sets: what stands in them, staging and adoption. */
export function SetsPanel({ device, entry, sets, points, part }: SetsPanelProps) {
  if (!sets || sets.sets.length < 2) return null;
  const result = sets.adopt_result;
  const tone = result === 'completed' ? 'good' : result === 'failed' ? 'bad' : 'warn';
  const asked = sets.sets.find(({ number }) => number === sets.adopt_request);
  const request = entry.kind === 'droop' ? 'AdptCtlReq' : 'AdptCrvReq';
  return (
    <Panel
      title="Stored sets"
      tools={<Chip tone={tone}>{`adoption of set ${sets.adopt_request}: ${words(result)}`}</Chip>}
    >
      {result === 'failed' && <p class="problem">{asked?.issue ?? 'The set could not be adopted as it was.'}</p>}
      <ul class="sets" aria-label="Stored sets">
        {sets.sets.map((set) => (
          <li key={set.number} data-set={set.number}>
            <strong>Set {set.number}</strong>
            {set.in_force && <Chip tone="good">in force</Chip>}
            {!set.in_force && (
              <Chip tone={set.adoptable ? 'muted' : 'bad'}>
                {set.adoptable ? 'adoptable' : (set.issue ?? 'not adoptable')}
              </Chip>
            )}
            <span class="muted">
              {set.changed_by ? `${set.changed_by.source} ${timeOfDay(set.changed_by.changed_at)}` : 'as at the start'}
            </span>
            {!set.in_force && (
              <>
                {entry.curve && (
                  <Action
                    call={anyCall(
                      'POST',
                      `registers/${entry.model}`,
                      { device },
                      stageBody(entry, set.number, points, part).body,
                    )}
                    title="Writes the points of the editor into this set"
                  >
                    Stage points
                  </Action>
                )}
                <Action
                  call={anyCall('POST', `registers/${entry.model}`, { device }, { points: { [request]: set.number } })}
                >
                  Adopt
                </Action>
              </>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
