import { Leaf } from "lucide-react";

import { EnergyReport } from "@/components/energy-report";
import { YearHeatmap } from "@/components/year-heatmap";

export default function Page() {
  return (
    <main className="relative isolate min-h-dvh overflow-x-clip bg-background px-5 py-12 sm:px-10">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 top-0 -z-10 h-96 bg-[radial-gradient(50%_90%_at_80%_0%,color-mix(in_oklab,var(--chart-2)_22%,transparent),transparent)]"
      />
      <div className="mx-auto grid max-w-6xl grid-cols-1 gap-6">
        <header className="max-w-2xl pb-4">
          <p className="flex items-center gap-2 text-sm font-medium text-chart-2">
            <Leaf className="size-4" />
            Energy report
          </p>
          <h1 className="mt-3 text-4xl font-semibold tracking-[-0.03em] sm:text-5xl">The house that pays for itself</h1>
          <p className="mt-4 text-lg leading-relaxed text-muted-foreground">
            Twelve months of sun, wind and habits: what was made, what was used, and what was left over.
          </p>
        </header>
        <EnergyReport />
        <YearHeatmap />
      </div>
    </main>
  );
}
