/** The site of a plant as the fleet around it drives it. */
import type { FleetPart } from '../../contract/fleet-site.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Site } from '../site/site.ts';

/** @param reached the instant that all devices have reached */
export function createFleetPart(site: Site, reached: () => SimTime): FleetPart {
  return {
    get budget() {
      return site.fleet;
    },
    setBudget(budget) {
      site.setFleet(budget);
    },
    claims: (endUs) => site.claims(reached(), endUs),
    sums: () => site.claimSums(reached()),
    ratings: () => site.ratings,
    lead(piece) {
      site.lead(piece);
    },
  };
}
