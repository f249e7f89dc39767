/** III: doubly fed induction generator; IV: full converter. */
export type WindTurbineType = 'T3' | 'T4';

/** Nameplates of the available turbines, unscaled. */
export const windTurbines = {
  'nrel-5mw': {
    type: 'T3',
    ratedPowerW: 5e6,
    hubHeightM: 90,
    rotorDiameterM: 126,
    cutInMS: 3,
    cutOutMS: 25,
    reactiveShare: 0.33,
    cpModel: 'nrel-5mw',
    dcVoltageV: 1150,
  },
  'iea-15mw': {
    type: 'T4',
    ratedPowerW: 15e6,
    hubHeightM: 150,
    rotorDiameterM: 240,
    cutInMS: 3,
    cutOutMS: 25,
    reactiveShare: 0.5,
    cpModel: 'heier',
    dcVoltageV: 5400,
  },
  'farm-100kw': {
    type: 'T4',
    ratedPowerW: 100e3,
    hubHeightM: 37,
    rotorDiameterM: 21,
    cutInMS: 3,
    cutOutMS: 25,
    reactiveShare: 0.44,
    cpModel: 'heier',
    dcVoltageV: 750,
  },
} as const;

export type WindTurbineName = keyof typeof windTurbines;

export const windCpModels = ['nrel-5mw', 'heier', 'slootweg'] as const;
export type WindCpModel = (typeof windCpModels)[number];

/** IEC 61400-1 turbulence category; none: the mean wind alone. */
export const turbulenceClasses = ['A', 'B', 'C', 'none'] as const;
export type TurbulenceClass = (typeof turbulenceClasses)[number];

/** Physical parameters of a wind turbine, as a profile gives them with every default filled in. */
export interface WindParameters {
  readonly turbine: WindTurbineName;
  readonly turbineType: WindTurbineType;
  /** AC rating; the rotor area follows it */
  readonly ratedPowerW: number;
  readonly hubHeightM: number;
  readonly rotorDiameterM: number;
  readonly cpModel: WindCpModel;
  readonly cutInMS: number;
  readonly cutOutMS: number;
  readonly airDensityKgM3: number;
  readonly turbulenceClass: TurbulenceClass;
  /** height at which the wind of the surroundings is measured */
  readonly anemometerHeightM: number;
  /** exponent of the power law between the two heights */
  readonly shearExponent: number;
  /** efficiency of the inverter, 0.8..1: divides the power at the AC terminals to give the DC power */
  readonly efficiencyNominal: number;
  /** reactive power at full active power, of the apparent power rating */
  readonly reactiveShare: number;
  /** additional reactive current per voltage below 0.9, pu/pu */
  readonly lvrtGain: number;
  /** time from the end of a dip until active power has recovered */
  readonly lvrtRecoveryS: number;
  /** time above cut-in before a start */
  readonly startDelayS: number;
  /** time below cut-out less 3 m/s before a return from a storm stop */
  readonly stormDelayS: number;
  readonly dcVoltageV: number;
}

export type WindState = 'stopped' | 'starting' | 'run_mppt' | 'run_rated' | 'high_wind_stop';
export type WindRegion = 'parked' | '1' | '2' | '3' | 'cut_out';
export type LvrtState = 'normal' | 'active' | 'recovering' | 'tripped';

export interface WindDetail {
  readonly kind: 'wind';
  /** wind at hub height, turbulence included */
  readonly windSpeedMS: number;
  /** mean wind at the height of the anemometer */
  readonly windSpeedMeasuredMS: number;
  readonly source: 'dataset' | 'override';
  /** override as commanded, even if negative; null: no override */
  readonly overrideSpeedMS: number | null;
  readonly rotorRpm: number;
  readonly generatorRpm: number;
  readonly pitchDeg: number;
  readonly cp: number;
  readonly tipSpeedRatio: number;
  /** aerodynamic power on the rotor */
  readonly mechanicalPowerW: number;
  /** DC power into the inverter */
  readonly dcPowerW: number;
  /** DC power burnt in the chopper during a dip */
  readonly chopperPowerW: number;
  readonly region: WindRegion;
  readonly state: WindState;
  readonly lvrtState: LvrtState;
  readonly turbine: WindTurbineType;
  readonly ratedPowerW: number;
  readonly hubHeightM: number;
  readonly rotorDiameterM: number;
  /** true: power follows the steady curve with a lag, because time runs too fast for rotor dynamics */
  readonly quasiSteady: boolean;
  /** shared by all turbines of one machine */
  readonly powerCurve: readonly WindCurvePoint[];
}

/** Aerodynamic power on the rotor in steady wind without curtailment. */
export interface WindCurvePoint {
  /** wind at hub height */
  readonly windSpeedMS: number;
  readonly mechanicalPowerW: number;
}

/** Replaces the mean wind and switches turbulence off; null returns to the data. */
export interface WindCommand {
  readonly kind: 'wind.override';
  readonly speedMS: number | null;
  readonly height: 'hub' | 'anemometer';
}

/** Names in `controls.overrides` of the values that each command sets. */
export const windOverrides = {
  'wind.override': ['wind_override'],
} as const satisfies Record<WindCommand['kind'], readonly string[]>;
