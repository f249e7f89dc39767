/** A wind turbine as the DC source of a device. */
import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import { badValue, SimError } from '../../../core/errors.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { WindCurvePoint, WindDetail, WindParameters } from '../../../contract/kinds/wind.ts';
import type { RandomStream } from '../../../core/random.ts';
import type { DcPort, DcRequest, DcSource, PowerCourse, SourceCondition, SourceInput } from '../source.ts';
import { LivePort } from '../live-port.ts';
import { LowVoltageRideThrough } from './lvrt.ts';
import { createMachine } from './machine.ts';
import type { Machine } from './machine.ts';
import { steadyAt, steadyTable } from './steady.ts';
import type { SteadyTable } from './steady.ts';
import { Turbine } from './turbine.ts';
import type { EnergyBalance } from './turbine.ts';

/** Above this rate, simulated seconds per real second, the rotor dynamics are left out. */
const quasiSteadyRate = 50;
/** Minimum grid voltage for a start: at a lower voltage ride-through begins. */
const minGridPu = 0.88;
/** Deviation of power that counts as steady, as a share. */
const steadyShare = 1e-4;
/** Minimum wind for a meaningful tip-speed ratio, m/s. */
const minShownMS = 0.5;
const betzCp = 16 / 27;
const rpmPerRadS = 30 / Math.PI;

interface Model {
  readonly machine: Machine;
  readonly steady: SteadyTable;
  /** power curves by cut-in and cut-out */
  readonly curves: Map<string, readonly WindCurvePoint[]>;
}

/** Step and end of the power curve in the detail, m/s. */
const [curveStepMS, curveEndMS] = [0.5, 30];

function powerCurve({ steady, curves }: Model, { cutInMS, cutOutMS }: WindParameters): readonly WindCurvePoint[] {
  const key = `${cutInMS} ${cutOutMS}`;
  const cachedCurve = curves.get(key);
  if (cachedCurve) return cachedCurve;
  const curve = Array.from({ length: curveEndMS / curveStepMS + 1 }, (_unused, index) => {
    const windSpeedMS = index * curveStepMS;
    const runs = windSpeedMS >= cutInMS && windSpeedMS <= cutOutMS;
    return { windSpeedMS, mechanicalPowerW: runs ? steadyAt(steady.shaftW, windSpeedMS) : 0 };
  });
  curves.set(key, curve);
  return curve;
}

/** Solved machines by their parameters, the latest used last. */
const models = new Map<string, Model>();
const maxModels = 64;

/** Turbines with the same machine share its solution, which takes some milliseconds, even across plants. */
function modelOf(parameters: WindParameters): Model {
  const { turbine, cpModel, ratedPowerW, rotorDiameterM, airDensityKgM3, efficiencyNominal } = parameters;
  const key = JSON.stringify([turbine, cpModel, ratedPowerW, rotorDiameterM, airDensityKgM3, efficiencyNominal]);
  const cachedModel = models.get(key);
  if (cachedModel) {
    models.delete(key);
    models.set(key, cachedModel);
    return cachedModel;
  }
  const machine = createMachine(parameters);
  const model = { machine, steady: steadyTable(machine), curves: new Map<string, readonly WindCurvePoint[]>() };
  models.set(key, model);
  // drops the least recently used machine; turbines that use this machine keep it
  const [oldest] = models.keys();
  if (models.size > maxModels && oldest !== undefined) models.delete(oldest);
  return model;
}

export class WindPort implements DcSource {
  readonly heldPower = true;
  readonly ports: readonly DcPort[];
  readonly absorbableDcW = 0;
  readonly #p: WindParameters;
  readonly #m: Machine;
  readonly #powerCurve: readonly WindCurvePoint[];
  readonly #turbine: Turbine;
  readonly #ride: LowVoltageRideThrough;
  readonly #conditions = new Set<SourceCondition>();
  #availableW = 0;
  #drawnW = 0;
  #chopperW = 0;
  #needsSettling = true;

  constructor(parameters: WindParameters, random: RandomStream) {
    const model = modelOf(parameters);
    const { machine, steady } = model;
    this.#p = parameters;
    this.#m = machine;
    this.#powerCurve = powerCurve(model, parameters);
    this.#turbine = new Turbine(parameters, machine, steady, random);
    this.#ride = new LowVoltageRideThrough(parameters, machine.ratedDcW);
    const voltageV = parameters.dcVoltageV;
    this.ports = [
      new LivePort('INJ', 'WIND', {
        voltageV: () => voltageV,
        currentA: () => this.#drawnW / voltageV,
        powerW: () => this.#drawnW,
      }),
    ];
  }

  get availableDcW(): number {
    return this.#availableW;
  }
  get starting(): boolean {
    return this.#turbine.starting;
  }
  /** The rotor is integrated inside a sub-step: only a voltage dip needs shorter sub-steps. */
  get settled(): boolean {
    return this.#ride.state === 'normal' || this.#ride.state === 'tripped';
  }
  get maxStepS(): number {
    return Math.min(this.#turbine.maxStepS, this.#ride.maxStepS);
  }
  get conditions(): ReadonlySet<SourceCondition> {
    return this.#conditions;
  }

  /** Additional reactive current during a dip, of rated current; positive injects. The inverter adds it. */
  get reactiveCurrentPu(): number {
    return this.#ride.reactiveCurrentPu;
  }

  /** Energies since `settle` and the kinetic energy of the rotor, J. */
  get energy(): EnergyBalance & { readonly kineticJ: number } {
    return { ...this.#turbine.balance, kineticJ: this.#turbine.kineticJ };
  }

  prepare(dtS: number, input: SourceInput): void {
    if (this.#needsSettling) this.settle(input);
    const turbine = this.#turbine;
    const pu = input.terminalPu;
    turbine.prepare(dtS, input.windSpeedMS, pu >= minGridPu, input.rate > quasiSteadyRate);
    this.#ride.prepare(dtS, pu, turbine.running);
    this.#availableW = Math.min(turbine.availableDcW, this.#ride.limitW);
    this.#updateConditions();
  }

  settle(input: SourceInput): void {
    this.#needsSettling = false;
    this.#turbine.settle(input.windSpeedMS);
    this.#ride.reset();
    this.#availableW = this.#turbine.availableDcW;
    this.#drawnW = 0;
    this.#chopperW = 0;
    this.#updateConditions();
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const demandW = Math.max(Math.min(targetW ?? this.#availableW, ceilingW), floorW);
    return Math.min(Math.max(demandW, 0), this.#availableW);
  }

  /** The speed of the rotor follows every imbalance; power that rises after a curtailment comes from the rotor. */
  holds({ dcW, isShare, dtS, terminalPu }: PowerCourse): boolean {
    const turbine = this.#turbine;
    if (isShare || dtS > turbine.maxStepS) return false;
    if (!turbine.running) return turbine.parked;
    const isRising = dcW > this.#drawnW + steadyShare * this.#m.ratedDcW;
    return terminalPu >= minGridPu && !isRising && turbine.imbalance <= steadyShare;
  }

  draw(dcW: number, energized: boolean): void {
    const drawnW = energized && dcW > 0 ? dcW : 0;
    this.#drawnW = drawnW;
    this.#chopperW = energized ? this.#ride.chopperW(this.#turbine.availableDcW, drawnW) : 0;
    this.#turbine.draw(drawnW, this.#chopperW, energized);
    this.#ride.draw(drawnW, this.#chopperW, energized);
  }

  detail(): WindDetail {
    const turbine = this.#turbine;
    const { wind } = turbine;
    const windMS = wind.rotorMS;
    const meaningful = windMS >= minShownMS;
    const cp = meaningful ? turbine.aeroW / (this.#m.halfRhoA * windMS * windMS * windMS) : 0;
    return {
      kind: 'wind',
      windSpeedMS: wind.hubMS,
      windSpeedMeasuredMS: wind.measuredMS,
      source: wind.override === null ? 'dataset' : 'override',
      overrideSpeedMS: wind.override?.speedMS ?? null,
      rotorRpm: turbine.radS * rpmPerRadS,
      generatorRpm: turbine.radS * rpmPerRadS * this.#m.gearRatio,
      pitchDeg: turbine.shownPitchDeg,
      // negative while the blades brake the rotor
      cp: Math.min(cp, betzCp),
      tipSpeedRatio: meaningful ? (turbine.radS * this.#m.radiusM) / windMS : 0,
      mechanicalPowerW: turbine.aeroW,
      dcPowerW: this.#drawnW,
      chopperPowerW: this.#chopperW,
      region: turbine.region,
      state: turbine.state,
      lvrtState: this.#ride.state,
      turbine: this.#p.turbineType,
      ratedPowerW: this.#p.ratedPowerW,
      hubHeightM: this.#p.hubHeightM,
      rotorDiameterM: this.#p.rotorDiameterM,
      quasiSteady: turbine.quasiSteady,
      powerCurve: this.#powerCurve,
    };
  }

  curve(): IvCurve {
    throw new SimError(
      'COMMAND_NOT_APPLICABLE',
      'a wind turbine has no DC curve; devices of kind pv, battery and fuelcell have one',
    );
  }

  command(command: SourceCommand): void {
    if (command.kind !== 'wind.override') {
      throw new SimError('COMMAND_NOT_APPLICABLE', `given ${command.kind}; a wind turbine accepts wind.override`);
    }
    const { speedMS, height } = command;
    if (speedMS !== null && !Number.isFinite(speedMS)) {
      throw badValue('wind speed', speedMS, 'a number in m/s, or null to end the override');
    }
    this.#turbine.wind.override = speedMS === null ? null : { speedMS, height };
  }

  /** A turbine has no latched faults. */
  clearFaults(): void {
    this.#updateConditions();
  }

  restart(): void {
    this.#turbine.wind.override = null;
    this.#needsSettling = true;
  }

  kept(): Kept {
    return keptParts({
      turbine: this.#turbine.kept(),
      ride: this.#ride.kept(),
      members: keptRecord(
        () => ({
          availableW: this.#availableW,
          drawnW: this.#drawnW,
          chopperW: this.#chopperW,
          needsSettling: this.#needsSettling,
          conditions: [...this.#conditions],
        }),
        (values) => {
          this.#availableW = values.availableW;
          this.#drawnW = values.drawnW;
          this.#chopperW = values.chopperW;
          this.#needsSettling = values.needsSettling;
          this.#conditions.clear();
          for (const condition of values.conditions) this.#conditions.add(condition);
        },
      ),
    });
  }

  #updateConditions(): void {
    this.#set('overspeed', this.#turbine.overspeed);
    this.#set('lvrt_active', this.#ride.state === 'active');
  }

  #set(name: SourceCondition, holds: boolean): void {
    if (holds) this.#conditions.add(name);
    else this.#conditions.delete(name);
  }
}
