/** The register map of a device, or of the meter of the connection point. */
import { useEffect, useState } from 'preact/hooks';
import { Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { typedSince } from '../../../kit/form';
import { Empty, Panel } from '../../../kit/panel';
import { useLive } from '../../../store/live';
import { deviceHref, param, route, setParam } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { modelsCall, pointsCall, writeCall, PointTable, valueText } from './point-table';
import { placeOf } from './point-table';
import type { Model, Owner, Place, Registers } from './point-table';

interface FindProps {
  readonly owner: Owner;
  readonly models: readonly Model[];
  readonly text: string;
}

const maxHits = 30;

/** Points of all models whose name or label contains a text. */
function Find({ owner, models, text }: FindProps) {
  return (
    <ul class="hits" aria-label="Points found">
      {models.map((model) => (
        <ModelHits key={placeOf(model)} owner={owner} model={model} text={text.toLowerCase()} />
      ))}
    </ul>
  );
}

function ModelHits({ owner, model, text }: { readonly owner: Owner; readonly model: Model; readonly text: string }) {
  const place = placeOf(model);
  const points = useLive(pointsCall(owner, place), 'once').data?.points ?? [];
  const hits = points.filter(({ name, label }) => `${place}.${name} ${label}`.toLowerCase().includes(text));
  return (
    <>
      {hits.slice(0, maxHits).map((point) => (
        <li key={point.name}>
          <a href={deviceHref(owner, 'registers', { model: place, point: point.name })}>
            {place}.{point.name}
          </a>{' '}
          <span class="muted">{point.label}</span> {valueText(point)}
        </li>
      ))}
    </>
  );
}

/** All registers of a model in hexadecimal, with those of the chosen point marked. */
function Strip({ model, chosen }: { readonly model: Registers; readonly chosen: string | null }) {
  const cells = model.points.flatMap((point) =>
    (point.raw ?? []).map((register, offset) => ({ point, register, address: point.address + offset })),
  );
  return (
    <div class="strip mono" role="group" aria-label={`Registers of model ${placeOf(model)} in hexadecimal`}>
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

/** The register map: values decoded and raw, their writers, and a form that writes points. */
export function RegistersView() {
  const device = useDevice();
  const owner: Owner | null = route.value.path[1] === 'site' ? 'site' : (device?.device_index ?? null);
  const { data, problem } = useLive(owner === null ? null : modelsCall(owner), 'once');
  const models = data?.models ?? [];
  const modelParam = param('model');
  const first = models.find((model) => model.id !== 1);
  const chosen: Place = modelParam ?? (first === undefined ? '' : placeOf(first));
  const text = param('search') ?? '';
  return (
    <>
      <div class="title">
        <input
          type="search"
          aria-label="Search points of all models"
          placeholder="Search points of all models"
          size={30}
          value={text}
          onInput={(event) => setParam('search', event.currentTarget.value)}
        />
      </div>
      {owner === 'site' && problem ? (
        <Empty>{problem.message} Start with --meter_unit 200 to serve the meter on every Modbus port.</Empty>
      ) : (
        <Refused problem={problem} />
      )}
      {owner !== null && data && (
        <div class="registers">
          <Panel title="Models" flush>
            <Models models={models} owner={owner} chosen={chosen} />
          </Panel>
          <div class="stack">
            {text !== '' && (
              <Panel title={`Points with "${text}"`}>
                <Find owner={owner} models={models} text={text} />
              </Panel>
            )}
            {models.some((model) => placeOf(model) === chosen) ? (
              <ModelPanel key={`${owner} ${chosen}`} owner={owner} place={chosen} />
            ) : (
              <Empty>
                {modelParam === null
                  ? 'Choose a model of the list.'
                  : `This map has no model ${modelParam}: choose one of the list.`}
              </Empty>
            )}
          </div>
        </div>
      )}
    </>
  );
}

interface ModelsProps {
  readonly models: readonly Model[];
  readonly owner: Owner;
  readonly chosen: Place;
}

function Models({ models, owner, chosen }: ModelsProps) {
  return (
    <ul class="models">
      {models.map((model) => {
        const { name, label, address, length, hidden } = model;
        const place = placeOf(model);
        return (
          <li key={place}>
            <a
              href={deviceHref(owner, 'registers', { model: place, absent: param('absent') })}
              aria-current={place === chosen ? 'true' : undefined}
              title={`${name}, register ${address}, length ${length}${hidden ? ', masters do not find it' : ''}`}
            >
              {place} {label}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function ModelPanel({ owner, place }: { readonly owner: Owner; readonly place: Place }) {
  const { data: model, problem: readProblem } = useLive(pointsCall(owner, place));
  const [typed, setTyped] = useState<Readonly<Record<string, string>> | null>(null);
  const { busy, problem, run, forget } = useDo();
  const point = param('point');
  const isLoaded = model !== undefined;
  useEffect(() => {
    if (isLoaded && point !== null)
      document.querySelector(`tr[data-point="${CSS.escape(point)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [isLoaded, point]);
  if (!model) return <Refused problem={readProblem} />;
  const staged = Object.fromEntries(Object.entries(typed ?? {}).filter(([, text]) => text.trim() !== ''));
  const count = Object.keys(staged).length;
  const call = owner === 'site' || count === 0 ? null : writeCall(owner, place, staged);
  const hides = param('absent') === 'hide';
  const points = hides ? model.points.filter(({ implemented }) => implemented) : model.points;
  const write = async () => {
    if (call !== null && (await run(call)) !== undefined)
      setTyped((present) => present && typedSince(present, typed ?? {}));
  };
  return (
    <Panel
      title={`${place} ${model.name}`}
      tools={
        <>
          <button type="button" aria-pressed={hides} onClick={() => setParam('absent', hides ? null : 'hide')}>
            Hide points not implemented
          </button>
          {owner !== 'site' && (
            <button
              type="button"
              aria-pressed={typed !== null}
              onClick={() => {
                setTyped(typed === null ? {} : null);
                forget();
              }}
            >
              Edit values
            </button>
          )}
        </>
      }
    >
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void write();
        }}
      >
        <Strip model={model} chosen={point} />
        {typed !== null && (
          <div class="row">
            <button class="primary" disabled={call === null || busy}>
              Write {count} {count === 1 ? 'point' : 'points'}
            </button>
            {call && <CallLine call={call} />}
            <span class="muted">
              Engineering units; enumerations by name or number, bit fields as a number such as 0x5. Either all points
              are written, or none.
            </span>
          </div>
        )}
        <Refused problem={problem} />
        <PointTable
          model={model}
          points={points}
          chosen={point}
          typed={typed}
          problem={problem}
          onTyped={(name, text) => setTyped((before) => ({ ...before, [name]: text }))}
        />
      </form>
    </Panel>
  );
}
