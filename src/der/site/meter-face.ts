/** A meter model with its place in a register map: writes the values of a flow in the form of its model. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { phaseCount, terminalVoltages } from '../inverter/ac.ts';
import type { TerminalVoltages } from '../inverter/ac.ts';
import type { MeteredFlow } from '../../contract/map-layout.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { FlowSums, SiteFlows } from './flows.ts';
import { hasFailed, publishEnergy, publishEvents, publishPowers, quantityNames } from './meter-registers.ts';
import type { MeterEnergy, MeterForm, MeterPoints, MeterShape } from './meter-registers.ts';

/** Share of the rating below which a power factor is noise, as in the registers of devices. */
const noiseShare = 1e-3;

export interface MeterFaceOptions {
  readonly of: MeteredFlow;
  readonly shape: MeterShape;
  /** the points of the model in a bank */
  readonly points: MeterPoints;
  /** exponent of ten of the scale factor of energies */
  readonly energySf: number;
}

export class MeterFace {
  /** shared with the other meters of the flow */
  readonly sums: FlowSums;
  /** counters of this meter alone, from 0 at its start */
  readonly energy: MeterEnergy;
  readonly #shape: MeterShape;
  readonly #points: MeterPoints;
  readonly #form: MeterForm;

  constructor({ of, shape, points, energySf }: MeterFaceOptions, flows: SiteFlows) {
    const phases = phaseCount(shape.wiring);
    this.sums = flows.sums(of, phases);
    this.energy = this.sums.openCounters();
    this.#shape = shape;
    this.#points = points;
    this.#form = {
      names: quantityNames(shape.float),
      phases,
      unityPf: shape.float ? 1 : 100,
      countWh: shape.float ? null : 10 ** energySf,
      minVa: noiseShare * shape.ratedVa,
    };
  }

  /** State that a restart keeps. A meter of another flow, or with another number of phases, keeps its counters at 0. */
  kept(): Kept {
    const { of, phases } = this.sums;
    return keptRecord(
      () => ({ of, phases, energy: this.energy.kept().save() }),
      (saved) => {
        if (saved.of === of && saved.phases === phases) this.energy.kept().restore(saved.energy);
      },
    );
  }

  /** Shows powers, voltages and counters in the registers. @param grid the common grid */
  show(grid: GridValues): TerminalVoltages {
    const { wiring, vNomV } = this.#shape;
    const { watts, vars } = this.sums;
    const volts = terminalVoltages(wiring, vNomV, grid);
    publishPowers(this.#points, { watts, vars, volts, hz: grid.hz }, this.#form);
    publishEvents(this.#points, hasFailed([grid.aPu, grid.bPu, grid.cPu].slice(0, this.#form.phases)));
    publishEnergy(this.#points, this.energy, this.#form);
    return volts;
  }

  /** Ends the counters. */
  close(): void {
    this.sums.closeCounters(this.energy);
  }
}
