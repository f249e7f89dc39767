/** The chain of models that masters find, for each map layout. */
import type { MapShape } from '../../contract/map-layout.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import type { Issue } from '../../core/errors.ts';
import type { ModelChoice } from '../../sunspec/map/layout.ts';
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
import { hasUnusedInput } from './inputs.ts';

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
/** One DC voltage cannot represent several ports. */
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

/** Settings without effect in these devices, as those omitted from 702. */
const omitted121 = [
  ...['VMax', 'VMin', 'VArMaxQ2', 'VArMaxQ3', 'PFMinQ1', 'PFMinQ2', 'PFMinQ3', 'PFMinQ4'],
  ...['VArAct', 'ClcTotVA', 'MaxRmpRte', 'ECPNomHz', 'ConnPh'],
];

/** Counters by quadrant exist only where the direction of active power is known. */
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

export const directControls: ModelChoice = {
  def: m123,
  scale: { WMaxLimPct_SF: -2, OutPFSet_SF: -3, VArPct_SF: -2 },
};

function storageControls({ W_SF = 0 }: Scale, { ports, ratings }: ClassicFacts): ModelChoice {
  // charging from the grid is a setting only with another source; rates that force a battery beside other sources have
  // no ramp
  const omitted = [...(ratings.chargeMaxW === null ? ['ChaGriSet'] : []), ...(ports > 1 ? ['InOutWRte_RmpTms'] : [])];
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

function classicModels(
  floating: boolean,
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
    inverter(floating, facts, shared),
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

const isCurrent = ({ def: { id } }: ModelChoice) => id > 700 && id < 800;

/**
 * The models of a device in the order of its map, including hidden ones.
 * @param current the models of the current generation, beginning with 1
 * @param issues receives one for each hidden model that is not in the map
 */
export function mapChain(
  { layout, float: floating, hiddenModels }: MapShape,
  current: readonly [ModelChoice, ...ModelChoice[]],
  facts: ClassicFacts,
  issues: Issue[],
): readonly ModelChoice[] {
  const [common, ...others] = current;
  const hide = (choice: ModelChoice): ModelChoice => ({ ...choice, hidden: true });
  const chain = {
    current: () => current,
    classic: () => [
      common,
      ...classicModels(floating, facts, current),
      ...others.map((choice) => (isCurrent(choice) ? hide(choice) : choice)),
    ],
    both: () => [common, ...classicModels(floating, facts, current), ...others],
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
