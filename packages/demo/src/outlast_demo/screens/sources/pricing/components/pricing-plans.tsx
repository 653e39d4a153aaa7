import { Check } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/lib/utils";

const plans = [
  {
    name: "Starter",
    text: "For one person and a good idea.",
    price: 0,
    action: "Start free",
    features: ["3 projects", "1 GB of files", "Share by link", "Community support"],
  },
  {
    name: "Studio",
    text: "For small teams who ship every week.",
    price: 24,
    action: "Try 14 days",
    popular: true,
    features: [
      "Unlimited projects",
      "100 GB of files",
      "Roles and guests",
      "Version history, one year",
      "Support within a day",
    ],
  },
  {
    name: "House",
    text: "For companies with advanced needs.",
    price: 79,
    action: "Talk to us",
    features: ["Everything in Studio", "Single sign-on", "Audit log", "Your own region", "A dedicated contact"],
  },
];

export function PricingPlans() {
  return (
    <section className="mx-auto mt-16 grid max-w-6xl items-start gap-5 lg:grid-cols-3">
      {plans.map((plan) => (
        <Card
          key={plan.name}
          className={cn(
            "relative gap-0 p-8 transition-transform duration-300 hover:-translate-y-1",
            plan.popular && "border-primary/50 shadow-2xl ring-1 shadow-primary/20 ring-primary/40 lg:-mt-4 lg:pb-12",
          )}
        >
          {plan.popular && <Badge className="absolute -top-3 left-8">Most popular</Badge>}
          <h2 className="text-lg font-semibold">{plan.name}</h2>
          <p className="mt-1 text-sm text-muted-foreground">{plan.text}</p>
          <p className="mt-7 flex items-baseline gap-1.5">
            <span className="text-5xl font-semibold tracking-tight tabular-nums">${plan.price}</span>
            <span className="text-sm text-muted-foreground">a month</span>
          </p>
          <Button className="mt-7 w-full" size="lg" variant={plan.popular ? "default" : "outline"}>
            {plan.action}
          </Button>
          <ul className="mt-8 grid gap-3 border-t pt-7 text-sm">
            {plan.features.map((feature) => (
              <li key={feature} className="flex items-start gap-3">
                <span className="mt-0.5 grid size-4.5 shrink-0 place-items-center rounded-full bg-primary/15 text-primary">
                  <Check className="size-3" strokeWidth={3} />
                </span>
                {feature}
              </li>
            ))}
          </ul>
        </Card>
      ))}
    </section>
  );
}
