/**
 * The chain of models that masters find, for each map layout: its models, the start values of the classic ones, and the
 * names of DC inputs.
 */
import type { MapShape } from '../../contract/map-layout.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import type { Issue } from '../../core/errors.ts';
import type { ModelChoice, Layout } from '../../sunspec/map/layout.ts';
import { m101 } from '../../sunspec/models/m101.ts';
import { m102 } from '../../sunspec/models/m102.ts';
import { m103 } from '../../sunspec/models/m103.ts';
import { m111 } from '../../sunspec/models/m111.ts';
import { m112 } from '../../sunspec/models/m112.ts';
import { m113 } from '../../sunspec/models/m113.ts';
import { m120 } from '../../sunspec/models/m120.ts';
import { m121 } from '../../sunspec/models/m121.ts';
import { m122 } from '../../sunspec/models/m122.ts';
import { m123 } from '../../sunspec/models/m123.ts';
import { m124 } from '../../sunspec/models/m124.ts';
import { m160 } from '../../sunspec/models/m160.ts';
import type { Wiring } from '../inverter/ac.ts';
import { scaleFor } from '../inverter/ratings.ts';
import type { Ratings } from '../inverter/ratings.ts';
import { readPoint, writePoint } from '../../sunspec/map/view.ts';
import type { MeasurementView, WritableMapView } from '../../sunspec/map/view.ts';
import type { DcPort } from '../source/source.ts';
import type { AssetType } from '../../contract/device.ts';
import { assignTo, facesOf, readerOf } from './faces.ts';

type Ports = MeasurementView['m714']['Prt'];
type Port = Ports[number];
type Input = NonNullable<MeasurementView['m160']>['module'][number];

/**
 * Calls `visit` for each input with its port (undefined: an unused input), the direction (1: from the port to the
 * device, -1: into the port), and the 0-based number of the port.
 */
export function forEachInput(
  { m124, m160, m714 }: MeasurementView,
  visit: (input: Input, port: Port | undefined, sign: 1 | -1, portNumber: number) => void,
): void {
  if (!m160) return;
  const { module: inputs } = m160;
  const { Prt: ports } = m714;
  const unused = hasUnusedInput(ports.length, m124 !== undefined) ? 1 : 0;
  const oneWay = 2 * ports.length + unused - inputs.length;
  let at = 0;
  const next = (port: Port | undefined, sign: 1 | -1, portNumber: number) => {
    const input = inputs[at];
    at += 1;
    if (input) visit(input, port, sign, portNumber);
  };
  ports.forEach((port, i) => {
    if (i < oneWay) {
      next(port, 1, i);
      return;
    }
    if (i === oneWay && unused > 0) next(undefined, 1, i);
    next(port, -1, i);
    next(port, 1, i);
  });
}

/** True if input 2 is unused: clients expect the charging and discharging of a hybrid as inputs 3 and 4. */
function hasUnusedInput(ports: number, hasStorage: boolean): boolean {
  return hasStorage && ports === 2;
}

/** Numbers the inputs, and names them after their ports. */
export function nameInputs(map: MeasurementView, ports: readonly DcPort[]): void {
  const inputCounts = new Map<number, number>();
  forEachInput(map, (_input, port, _sign, number) => {
    if (port) inputCounts.set(number, (inputCounts.get(number) ?? 0) + 1);
  });
  let id = 0;
  forEachInput(map, (input, port, sign, number) => {
    id += 1;
    const name = ports[number]?.name ?? '';
    const direction = inputCounts.get(number) === 2 ? (sign < 0 ? ' charge' : ' discharge') : '';
    Object.assign(input, { ID: id, IDStr: port ? name + direction : 'not connected' });
  });
}

/** The facts of a device on which its classic models depend. */
export interface ClassicFacts {
  readonly ratings: Ratings;
  /** DC ports of 714 */
  readonly ports: number;
  /** number of those ports, the last ones, that carry power in both directions */
  readonly twoWayPorts: number;
  /** null: no storage */
  readonly storage: BatteryParameters | null;
}

type Scale = Readonly<Record<string, number>>;

const acc32Max = 0xffff_ffff;
const hoursOfLife = 20 * 8760;

const integer = { single: m101, split: m102, three: m103 } as const;
const float = { single: m111, split: m112, three: m113 } as const;

/** Phases and line-line voltages that a wiring does not have. */
const missingPhases: Readonly<Record<Wiring, readonly string[]>> = {
  three: [],
  split: ['AphC', 'PhVphC', 'PPVphBC', 'PPVphCA'],
  single: ['AphB', 'AphC', 'PhVphB', 'PhVphC', 'PPVphAB', 'PPVphBC', 'PPVphCA'],
};
const unmeasured = [...['TmpSnk', 'TmpTrns', 'TmpOt', 'StVnd', 'EvtVnd1', 'EvtVnd2', 'EvtVnd3', 'EvtVnd4']] as const;
/** Points of devices with one port and no storage: one DC voltage cannot represent several. */
const ofOnePort = ['DCA', 'DCV'];

/** 101 to 103, or 111 to 113. */
function inverter(
  floating: boolean,
  { ratings: { wiring }, ports, storage }: ClassicFacts,
  shared: Scale,
): ModelChoice {
  const omit = new Set([
    ...missingPhases[wiring],
    ...unmeasured,
    ...(ports === 1 && storage === null ? [] : ofOnePort),
  ]);
  return floating ? { def: float[wiring], omit } : { def: integer[wiring], omit, scale: shared };
}

function nameplate({ storage, ratings }: ClassicFacts, { W_SF = 0, A_SF = 0 }: Scale, energySf: number): ModelChoice {
  const ofStorage = ['WHRtg', 'MaxDisChaRte'];
  return {
    def: m120,
    scale: {
      WRtg_SF: W_SF,
      VARtg_SF: W_SF,
      VArRtg_SF: W_SF,
      ARtg_SF: A_SF,
      PFRtg_SF: -3,
      ...(storage && { WHRtg_SF: energySf, MaxDisChaRte_SF: W_SF }),
      ...(ratings.chargeMaxW !== null && { MaxChaRte_SF: W_SF }),
    },
    omit: new Set(['AhrRtg', ...(storage ? [] : ofStorage), ...(ratings.chargeMaxW === null ? ['MaxChaRte'] : [])]),
  };
}

/** Settings without effect in these devices, like those omitted from 702. */
const omitted121 = [
  ...['VMax', 'VMin', 'VArMaxQ2', 'VArMaxQ3', 'PFMinQ1', 'PFMinQ2', 'PFMinQ3', 'PFMinQ4'],
  ...['VArAct', 'ClcTotVA', 'MaxRmpRte', 'ECPNomHz', 'ConnPh'],
];

/** Counters by quadrant exist only where active power has one direction. */
const ofOneDirection = ['ActVArhQ1', 'ActVArhQ4'];

function status({ ratings }: ClassicFacts, { W_SF = 0 }: Scale): ModelChoice {
  return {
    def: m122,
    scale: { VArAval_SF: W_SF, WAval_SF: W_SF },
    omit: new Set([
      ...['ActVAh', 'ActVArhQ2', 'ActVArhQ3', 'StSetLimMsk', 'Ris'],
      ...(ratings.chargeMaxW === null ? [] : ofOneDirection),
    ]),
  };
}

const directControls: ModelChoice = {
  def: m123,
  scale: { WMaxLimPct_SF: -2, OutPFSet_SF: -3, VArPct_SF: -2 },
};

function storageControls({ W_SF = 0 }: Scale, { ratings }: ClassicFacts): ModelChoice {
  // a device that cannot charge from the grid has no setting for it
  const omitted = ratings.chargeMaxW === null ? ['ChaGriSet'] : [];
  return {
    def: m124,
    scale: {
      WChaMax_SF: W_SF,
      WChaDisChaGra_SF: 0,
      MinRsvPct_SF: -1,
      ChaState_SF: -1,
      InBatV_SF: -1,
      InOutWRte_SF: -2,
    },
    omit: new Set(['VAChaMax', 'StorAval', ...omitted]),
  };
}

/** Inputs of 160; a port with power both ways has one to charge and one to discharge, since the model has no sign. */
function inputs(
  { ports, twoWayPorts, storage }: ClassicFacts,
  { DCA_SF = 0, DCV_SF = 0, DCW_SF = 0 }: Scale,
  whSf: number,
): ModelChoice {
  const count = ports + twoWayPorts + (hasUnusedInput(ports, storage !== null) ? 1 : 0);
  return {
    def: m160,
    counts: { N: count, module: count },
    scale: { DCA_SF, DCV_SF, DCW_SF, DCWH_SF: whSf },
    omit: new Set(['TmsPer', 'module.Tms', 'module.Tmp']),
  };
}

/** Forms of the inverter model: 101 to 103, 111 to 113, or both. */
export type InverterForms = readonly ('integer' | 'float')[];

/** @param current the models of the current generation, whose scale factors the classic ones follow */
export function classicModels(
  forms: InverterForms,
  facts: ClassicFacts,
  current: readonly ModelChoice[],
): readonly ModelChoice[] {
  const scaleOf = (id: number): Scale => current.find(({ def }) => def.id === id)?.scale ?? {};
  const { W_SF = 0, A_SF = 0, V_SF = 0 } = scaleOf(701);
  const dc = scaleOf(714);
  // lifetime energies must not overflow
  const whSf = scaleFor(facts.ratings.wMaxW * hoursOfLife, acc32Max, 0);
  const shared = {
    A_SF,
    V_SF,
    W_SF,
    VA_SF: W_SF,
    VAr_SF: W_SF,
    WH_SF: whSf,
    Hz_SF: -2,
    PF_SF: -2,
    Tmp_SF: -1,
    DCW_SF: W_SF,
    ...(facts.ports === 1 && facts.storage === null && { DCA_SF: dc['DCA_SF'] ?? 0, DCV_SF: dc['DCV_SF'] ?? 0 }),
  };
  return [
    ...forms.map((form) => inverter(form === 'float', facts, shared)),
    nameplate(facts, { W_SF, A_SF }, scaleOf(713)['WH_SF'] ?? 0),
    {
      def: m121,
      scale: { WMax_SF: W_SF, VRef_SF: V_SF, VRefOfs_SF: V_SF, VAMax_SF: W_SF, VArMax_SF: W_SF, WGra_SF: 0 },
      omit: new Set(omitted121),
    },
    status(facts, { W_SF }),
    directControls,
    ...(facts.storage ? [storageControls({ W_SF }, facts)] : []),
    inputs(facts, dc, whSf),
  ];
}

/** Places a model after the end model, where masters do not find it. */
export const hide = (choice: ModelChoice): ModelChoice => ({ ...choice, hidden: true });

const isCurrent = ({ def: { id } }: ModelChoice) => id > 700 && id < 800;

/**
 * The models of a device in the order of its map, including hidden ones.
 * @param current the models of the current generation, beginning with 1
 * @param issues receives an issue for each hidden model that is not in the map
 */
export function mapChain(
  { layout, float: floating, hiddenModels }: Pick<MapShape, 'layout' | 'float' | 'hiddenModels'>,
  current: readonly [ModelChoice, ...ModelChoice[]],
  facts: ClassicFacts,
  issues: Issue[],
): readonly ModelChoice[] {
  const [common, ...others] = current;
  const forms: InverterForms = [floating ? 'float' : 'integer'];
  const chain = {
    current: () => current,
    classic: () => [
      common,
      ...classicModels(forms, facts, current),
      ...others.map((choice) => (isCurrent(choice) ? hide(choice) : choice)),
    ],
    both: () => [common, ...classicModels(forms, facts, current), ...others],
    mixed: () => [common, directControls, ...others],
  }[layout]();
  const modelIds = new Set(chain.map(({ def: { id } }) => id));
  hiddenModels.forEach((id, at) => {
    if (modelIds.has(id)) return;
    const allowed = [...modelIds].filter((each) => each !== common.def.id).join(', ');
    issues.push({ name: `hidden_models[${at}]`, detail: `given ${id}; allowed with this layout: ${allowed}` });
  });
  if (hiddenModels.length === 0) return chain;
  return chain.map((choice) => (hiddenModels.includes(choice.def.id) ? hide(choice) : choice));
}

interface ClassicTraits {
  readonly assetType: AssetType;
  readonly storage: BatteryParameters | null;
}

/** Kinds of devices with a number for 120.DERTyp. */
const derTypes: Partial<Record<AssetType, 'PV' | 'PV_STOR'>> = { pv: 'PV', battery: 'PV_STOR', 'hybrid-dc': 'PV_STOR' };

function classicNameplate(map: WritableMapView, { assetType, storage }: ClassicTraits): void {
  const { m120: m, m702 } = map;
  if (!m) return;
  const charges = m702.WChaRteMaxRtg !== null;
  const [inject, absorb] = [m702.VarMaxInjRtg ?? 0, m702.VarMaxAbsRtg ?? 0];
  const [over, under] = [m702.PFOvrExtRtg ?? 1, m702.PFUndExtRtg ?? 1];
  // the mandatory point of the type stays "not implemented" where the model has no number for the kind
  Object.assign(m, { DERTyp: derTypes[assetType] ?? null });
  m.WRtg = m702.WMaxRtg ?? 0;
  m.VARtg = m702.VAMaxRtg ?? 0;
  m.ARtg = m702.AMaxRtg ?? 0;
  // quadrants in the direction of generators: 1 delivers both powers, 2 absorbs active, 3 both, 4 reactive power
  m.VArRtgQ1 = inject;
  m.VArRtgQ4 = 0 - absorb;
  m.PFRtgQ1 = over;
  m.PFRtgQ4 = -under;
  m.VArRtgQ2 = charges ? inject : 0;
  m.VArRtgQ3 = charges ? 0 - absorb : 0;
  m.PFRtgQ2 = charges ? -over : -1;
  m.PFRtgQ3 = charges ? under : 1;
  m.MaxChaRte = m702.WChaRteMaxRtg;
  if (storage === null) return;
  m.WHRtg = storage.capacityWh;
  m.MaxDisChaRte = m702.WDisChaRteMaxRtg;
}

/** Fills the classic models of an image whose current models have their start values. */
export function classicDefaults(layout: Layout, image: Buffer, map: WritableMapView, traits: ClassicTraits): void {
  classicNameplate(map, traits);
  if (map.m121) map.m121.VRefOfs = 0;
  if (map.m122) map.m122.TmSrc = 'SIM';
  if (map.m123) Object.assign(map.m123, { Conn: 'CONNECT', VArPct_Mod: 'WMax' });
  if (map.m124)
    Object.assign(map.m124, {
      WChaMax: map.m702.WChaRteMax ?? map.m802?.WChaRteMax ?? 0,
      OutWRte: 100,
      InWRte: 100,
      ...(map.m702.WChaRteMaxRtg !== null && { ChaGriSet: 'GRID' }),
    });
  const read = readerOf(layout, (slot) => readPoint(layout, image, slot));
  for (const { face } of facesOf(layout)) {
    assignTo(layout, face.toClassic(read), (slot, value) => {
      writePoint(layout, image, slot, value);
    });
  }
}
