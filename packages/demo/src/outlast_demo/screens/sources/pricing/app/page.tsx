import { ShieldCheck } from "lucide-react";

import { PlanComparison } from "@/components/plan-comparison";
import { PricingPlans } from "@/components/pricing-plans";
import { Badge } from "@/components/ui/badge";

export default function Page() {
  return (
    <main className="relative isolate min-h-dvh overflow-x-clip bg-background px-6 py-20 sm:py-28">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 top-0 -z-10 h-[36rem] bg-[radial-gradient(55%_60%_at_50%_0%,color-mix(in_oklab,var(--primary)_28%,transparent),transparent)]"
      />
      <header className="mx-auto max-w-3xl text-center">
        <Badge variant="outline" className="border-primary/30 bg-primary/10 text-sm text-foreground">
          Pricing
        </Badge>
        <h1 className="mt-6 text-4xl font-semibold tracking-[-0.03em] sm:text-6xl">Pay for the work, not for seats</h1>
        <p className="mx-auto mt-5 max-w-xl text-lg leading-relaxed text-muted-foreground">
          Start for free, stay as long as you like, and upgrade when it pays for itself.
        </p>
      </header>
      <PricingPlans />
      <PlanComparison />
      <p className="mx-auto mt-14 flex max-w-fit items-center gap-2 rounded-full border bg-card/60 px-4 py-2 text-sm text-muted-foreground">
        <ShieldCheck className="size-4 shrink-0 text-chart-2" />
        Cancel at any time. Full refund within 30 days, no questions asked.
      </p>
    </main>
  );
}
